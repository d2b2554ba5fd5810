import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { LlmTools } from './connect/connection.ts'
import { createDeployment, type Deployment } from './deployments.ts'

/** The entries of one model name. They rotate, and an entry that failed is skipped for a cooldown. */
export interface Route {
  /** Returns the deployment for the next attempt; while all cool down, the one whose cooldown ends first. */
  next(): Deployment
  /** Returns the deployments of all entries. Throws the errors of `createDeployment`. */
  all(): Deployment[]
  /**
   * Starts the cooldown of an entry after a temporary failure.
   * @param requestedMs the wait that the provider requested; null for none
   */
  markFailed(deployment: Deployment, requestedMs: number | null): void
  /** Ends the cooldown of an entry. */
  markWorked(deployment: Deployment): void
  /** Returns the rest of the requested wait in milliseconds: 0 without a cooldown, null without a requested time. */
  remainingWaitMs(deployment: Deployment): number | null
}

/** The cooldown of an entry whose provider requests no time. */
const COOLDOWN_MS = 30_000

interface Entry {
  params: ModelListEntry['litellm_params']
  deployment: Deployment | null
  cooldownEnd: number
  /** The end of the wait that the provider requested (`Retry-After`). */
  waitEnd: number
}

/**
 * Returns a function that returns the route of a model name. A name without an entry in `model_list` is used as a model
 * string, `<provider>/<model-id>`. Deployments are created on first use.
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
