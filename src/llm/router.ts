import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { LlmTools } from './connect/types.ts'
import { createDeployment, type Deployment } from './deployments.ts'

/** The entries of one model name. They take turns, and an entry that failed is passed over for a while. */
export interface Route {
  /** The deployment for the next attempt. When all entries rest, it is the one whose rest ends first. */
  next(): Deployment
  /** The deployments of all entries. Errors: those of `createDeployment`. */
  all(): Deployment[]
  /**
   * Lets an entry rest that failed in a way that may pass.
   * @param requestedMs how long the provider asked to wait; null when it did not say
   */
  markFailed(deployment: Deployment, requestedMs: number | null): void
  /** Ends the rest of an entry. */
  markWorked(deployment: Deployment): void
  /**
   * The milliseconds that the provider of an entry still wants to be left alone. It is 0 for an entry that does not
   * rest, and null for one that rests although its provider named no time.
   */
  remainingWaitMs(deployment: Deployment): number | null
}

/** How long an entry rests when its provider names no time. */
const COOL_MS = 30_000

interface Entry {
  deployment: Deployment
  coolUntil: number
  /** Until when the provider asked to wait (`Retry-After`), in milliseconds of the clock. */
  notBefore: number
}

/**
 * Answers a function that gives the route for a model name. A name that no entry of `model_list` has is taken as a
 * model string, `<provider>/<model-id>`. Deployments are made when they are used for the first time.
 */
export function createRouter(config: LlmConfig, tools: LlmTools): (name: string) => Route {
  const routes = new Map<string, Route>()
  return (name) => {
    const route = routes.get(name) ?? createRoute(entriesOf(config.model_list, name), config, tools)
    routes.set(name, route)
    return route
  }
}

function entriesOf(list: readonly ModelListEntry[], name: string): readonly [ModelListEntry, ...ModelListEntry[]] {
  const [head = { model_name: name, litellm_params: { model: name } }, ...rest] = list.filter(
    (entry) => entry.model_name === name,
  )
  return [head, ...rest]
}

function createRoute(list: readonly [ModelListEntry, ...ModelListEntry[]], config: LlmConfig, tools: LlmTools): Route {
  const { now } = tools
  const entries = new Map<ModelListEntry, Entry>()
  const byDeployment = new Map<Deployment, Entry>()
  let turn = 0
  const entryOf = (listed: ModelListEntry): Entry => {
    const existing = entries.get(listed)
    if (existing) return existing
    const entry = { deployment: createDeployment(listed.litellm_params, config, tools), coolUntil: 0, notBefore: 0 }
    entries.set(listed, entry)
    byDeployment.set(entry.deployment, entry)
    return entry
  }
  const restsUntil = (listed: ModelListEntry) => entries.get(listed)?.coolUntil ?? 0
  return {
    next: () => {
      const order = list.map((_, index) => list[(turn + index) % list.length] ?? list[0])
      const ready = order.find((listed) => restsUntil(listed) <= now())
      const chosen = ready ?? order.reduce((first, other) => (restsUntil(other) < restsUntil(first) ? other : first))
      turn = list.indexOf(chosen) + 1
      return entryOf(chosen).deployment
    },
    all: () => list.map((listed) => entryOf(listed).deployment),
    markFailed: (deployment, requestedMs) => {
      const entry = byDeployment.get(deployment)
      if (!entry) return
      entry.notBefore = now() + (requestedMs ?? 0)
      entry.coolUntil = now() + (requestedMs ?? COOL_MS)
    },
    markWorked: (deployment) => {
      const entry = byDeployment.get(deployment)
      if (entry) Object.assign(entry, { coolUntil: 0, notBefore: 0 })
    },
    remainingWaitMs: (deployment) => {
      const entry = byDeployment.get(deployment)
      if (!entry || entry.coolUntil <= now()) return 0
      return entry.notBefore > now() ? entry.notBefore - now() : null
    },
  }
}
