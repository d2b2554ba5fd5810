import { useCallback, useMemo } from 'preact/hooks'
import type { Action, PlannedResource } from '../../client/api/client.ts'
import { useAnySearch, useSearchChange } from '../../client/use-address.ts'
import { isLoss } from '../../ui/plan/values.ts'
import { excerpt } from '../../ui/words.ts'

/** The resources of a plan by their index in the document, and their dependencies. */
export interface Graph {
  resources: readonly PlannedResource[]
  /** The dependencies of each resource, each once, never itself. */
  needs: readonly number[][]
  /** The dependents of each resource. */
  neededBy: readonly number[][]
  /** The number of each resource's dependencies that are missing from the plan or were left out of it. */
  elsewhere: readonly number[]
  /** The indexes by `keyOf`, the key in addresses of the console. */
  byKey: ReadonlyMap<string, number>
}

/** Returns the unique name of a resource: its address, with the key of a deposed object. */
export const keyOf = ({ address, deposed }: PlannedResource): string =>
  deposed === null ? address : `${address} (deposed ${deposed})`

/** Builds the graph from `depends_on`. Tolerates cycles, and unknown and duplicate addresses. */
export function buildGraph(resources: readonly PlannedResource[]): Graph {
  const byKey = new Map<string, number>()
  for (const [index, resource] of resources.entries()) byKey.set(keyOf(resource), index)
  const neededBy = resources.map((): number[] => [])
  const elsewhere: number[] = []
  const needs = resources.map(({ depends_on, depends_on_left_out }, index) => {
    const found = new Set<number>()
    let missing = depends_on_left_out
    for (const address of depends_on) {
      const other = byKey.get(address)
      if (other === undefined) missing += 1
      else if (other !== index) found.add(other)
    }
    for (const other of found) neededBy[other]?.push(index)
    elsewhere.push(missing)
    return [...found]
  })
  return { resources, needs, neededBy, elsewhere, byKey }
}

/** Returns the direct and indirect dependents of a resource, without itself. */
export function dependentsOf({ neededBy }: Graph, start: number): ReadonlySet<number> {
  const reached = new Set([start])
  // The loop also visits what is added meanwhile.
  for (const index of reached) for (const other of neededBy[index] ?? []) reached.add(other)
  reached.delete(start)
  return reached
}

/** True if the change destroys something that holds data or grants access. */
export const isCriticalLoss = (resource: PlannedResource): boolean => resource.is_critical && isLoss(resource)

export const changes = ({ action }: PlannedResource): boolean => action !== 'none' && action !== 'read'

/**
 * Returns the resources to show, in the order of the plan.
 * @param action the action to show; null for all
 * @param changesOnly true to show only changes and their direct neighbours
 */
export function select(
  { resources, needs, neededBy }: Graph,
  { action, changesOnly }: { action: Action | null; changesOnly: boolean },
): number[] {
  const isNear = (index: number) =>
    [index, ...(needs[index] ?? []), ...(neededBy[index] ?? [])].some((other) => {
      const resource = resources[other]
      return resource && changes(resource)
    })
  return [...resources.keys()].filter(
    (index) => (action === null || resources[index]?.action === action) && (!changesOnly || isNear(index)),
  )
}

const URGENCY: readonly Action[] = ['delete', 'replace', 'update', 'create', 'import', 'move', 'forget', 'read', 'none']

/** Sorts by urgency: critical losses, then by action, then by number of dependents. */
export function byUrgency(graph: Graph, indexes: readonly number[]): number[] {
  const rank = (index: number) => {
    const resource = graph.resources[index] as PlannedResource
    return isCriticalLoss(resource) ? -1 : URGENCY.indexOf(resource.action)
  }
  const users = (index: number) => graph.neededBy[index]?.length ?? 0
  return indexes.toSorted((a, b) => rank(a) - rank(b) || users(b) - users(a) || a - b)
}

/** Returns the actions that occur and their counts, the most urgent first. */
export const countActions = (resources: readonly PlannedResource[]): [Action, number][] =>
  URGENCY.map((action): [Action, number] => [
    action,
    resources.filter((resource) => resource.action === action).length,
  ]).filter(([, count]) => count > 0)

/** Returns the address for display, with the key of a deposed object. */
export const shownAddress = ({ address, deposed }: PlannedResource): string =>
  excerpt(address, 300) + (deposed === null ? '' : ` (left over, ${excerpt(deposed, 20)})`)

/** Returns name and instance, for boxes that show the type separately. */
export const shownName = ({ name, index }: PlannedResource): string =>
  excerpt(index === null ? name : `${name}[${typeof index === 'string' ? `"${index}"` : index}]`, 80)

/** The number of resources above which a plan first shows only its changes. */
const LARGE = 60

export type View = ReturnType<typeof useView>

/** Returns a graph and its state, which is in the address so that it can be shared. */
export function useView(graph: Graph) {
  const search = useAnySearch()
  const set = useSearchChange()
  const chosen = graph.byKey.get(String(search.resource ?? '')) ?? null
  const action = graph.resources.find((resource) => resource.action === search.action)?.action ?? null
  const changesOnly = search.show === undefined ? graph.resources.length > LARGE : search.show === 'changes'
  return {
    ...{ graph, chosen, action, changesOnly },
    /** The filtered resources. */
    shown: useMemo(() => select(graph, { action, changesOnly }), [graph, action, changesOnly]),
    /** The direct and indirect dependents of the selected resource. */
    blast: useMemo(() => (chosen === null ? new Set<number>() : dependentsOf(graph, chosen)), [graph, chosen]),
    choose: useCallback(
      (index: number | null) => {
        const resource = index === null ? undefined : graph.resources[index]
        set({ resource: resource && keyOf(resource) })
      },
      [set, graph],
    ),
    filter: (only: Action | null) => set({ action: only ?? undefined }),
    showChangesOnly: (only: boolean) => set({ show: only ? 'changes' : 'all' }),
  }
}
