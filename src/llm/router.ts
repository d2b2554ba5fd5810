import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { LlmTools } from './connect/connection.ts'
import { createDeployment, type Deployment } from './deployments.ts'

/** The entries of one model name. They take turns, and an entry that failed is left out for a cooldown. */
export interface Route {
  /** The deployment for the next attempt; while all cool down, the one whose cooldown ends first. */
  next(): Deployment
  /** The deployments of all entries. Errors: those of `createDeployment`. */
  all(): Deployment[]
  /**
   * Starts the cooldown of an entry that failed in a way that may pass.
   * @param requestedMs the wait that the provider asked for; null when it named none
   */
  markFailed(deployment: Deployment, requestedMs: number | null): void
  /** Ends the cooldown of an entry. */
  markWorked(deployment: Deployment): void
  /**
   * Returns the milliseconds that the provider of an entry still wants to be left alone: 0 without a cooldown, null
   * for a cooldown for which the provider named no time.
   */
  remainingWaitMs(deployment: Deployment): number | null
}

/** The cooldown of an entry whose provider names no time. */
const COOLDOWN_MS = 30_000

interface Entry {
  params: ModelListEntry['litellm_params']
  deployment: Deployment | null
  cooldownEnd: number
  /** The end of the wait that the provider asked for (`Retry-After`). */
  waitEnd: number
}

/**
 * Returns a function that gives the route for a model name. A name that no entry of `model_list` has is taken as a
 * model string, `<provider>/<model-id>`. Deployments are made when they are used for the first time.
 */
export function createRouter(config: LlmConfig, tools: LlmTools): (name: string) => Route {
  const routes = new Map<string, Route>()
  return (name) => {
    const route = routes.get(name) ?? createRoute(name, config, tools)
    routes.set(name, route)
    return route
  }
}

function createRoute(name: string, config: LlmConfig, tools: LlmTools): Route {
  const { now } = tools
  const toEntry = (params: Entry['params']): Entry => ({ params, deployment: null, cooldownEnd: 0, waitEnd: 0 })
  const listed = config.model_list.filter(({ model_name }) => model_name === name)
  const [first = toEntry({ model: name }), ...rest] = listed.map(({ litellm_params }) => toEntry(litellm_params))
  const entries = [first, ...rest]
  const connect = (entry: Entry): Deployment => {
    entry.deployment ??= createDeployment(entry.params, config, tools)
    return entry.deployment
  }
  const entryOf = (deployment: Deployment) => entries.find((entry) => entry.deployment === deployment) ?? first
  let turn = 0
  return {
    next: () => {
      const order = [...entries.slice(turn), ...entries.slice(0, turn)]
      const earliest = order.reduce((a, b) => (b.cooldownEnd < a.cooldownEnd ? b : a))
      const chosen = order.find(({ cooldownEnd }) => cooldownEnd <= now()) ?? earliest
      turn = (entries.indexOf(chosen) + 1) % entries.length
      return connect(chosen)
    },
    all: () => entries.map(connect),
    markFailed: (deployment, requestedMs) => {
      const entry = entryOf(deployment)
      entry.waitEnd = now() + (requestedMs ?? 0)
      entry.cooldownEnd = now() + (requestedMs ?? COOLDOWN_MS)
    },
    markWorked: (deployment) => {
      Object.assign(entryOf(deployment), { cooldownEnd: 0, waitEnd: 0 })
    },
    remainingWaitMs: (deployment) => {
      const { cooldownEnd, waitEnd } = entryOf(deployment)
      if (cooldownEnd <= now()) return 0
      return waitEnd > now() ? waitEnd - now() : null
    },
  }
}
