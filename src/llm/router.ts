import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { LlmTools } from './connect/types.ts'
import { createDeployment, type Deployment } from './deployments.ts'

/** Entries of one model name: they take turns, and one that failed rests for a while. */
export interface Route {
  next(): Deployment
  /**
   * The entry failed in a way that may pass.
   * @param askedMs how long it asked to be left alone; null when it did not
   */
  markFailed(deployment: Deployment, askedMs: number | null): void
  markWorked(deployment: Deployment): void
  /** Milliseconds until the entry may be asked again as far as it said so; 0 for one that is ready; null when it only failed. */
  remainingWaitMs(deployment: Deployment): number | null
}

/** How long an entry rests that did not say how long. */
const COOL_MS = 30_000

interface Entry {
  deployment: Deployment
  coolUntil: number
  /** As the provider asked, by `Retry-After`. */
  notBefore: number
}

/** A name that no entry of `model_list` has is taken as a model string. Deployments are made on first use. */
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
    markFailed: (deployment, askedMs) => {
      const entry = byDeployment.get(deployment)
      if (!entry) return
      entry.notBefore = now() + (askedMs ?? 0)
      entry.coolUntil = now() + (askedMs ?? COOL_MS)
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
