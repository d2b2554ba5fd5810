import type { Action, PlannedResource } from '../../client/api/schemas.ts'
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

const NONE: number[] = []

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
  const reached = new Set<number>()
  const waiting = [start]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const other of neededBy[next] ?? NONE)
      if (other !== start && !reached.has(other)) {
        reached.add(other)
        waiting.push(other)
      }
  return reached
}

/** True if the change destroys something that holds data or grants access. */
export const isCriticalLoss = ({ is_critical, action }: PlannedResource): boolean =>
  is_critical && (action === 'delete' || action === 'replace')

export const changes = ({ action }: PlannedResource): boolean => action !== 'none' && action !== 'read'

export interface Filter {
  /** A part of the address, case-insensitive. */
  search: string
  /** The action to show; null for all. */
  action: Action | null
  /** True to show only changes and their direct neighbours. */
  changesOnly: boolean
}

/** Returns the resources that match a filter, in the order of the plan. */
export function select(graph: Graph, { search, action, changesOnly }: Filter): number[] {
  const near = changesOnly ? withNeighbours(graph) : null
  const wanted = search.trim().toLowerCase()
  const selected: number[] = []
  for (const [index, resource] of graph.resources.entries()) {
    if (near && !near.has(index)) continue
    if (action !== null && resource.action !== action) continue
    if (wanted !== '' && !resource.address.toLowerCase().includes(wanted)) continue
    selected.push(index)
  }
  return selected
}

function withNeighbours({ resources, needs, neededBy }: Graph): Set<number> {
  const near = new Set<number>()
  for (const [index, resource] of resources.entries()) {
    if (!changes(resource)) continue
    near.add(index)
    for (const other of needs[index] ?? NONE) near.add(other)
    for (const other of neededBy[index] ?? NONE) near.add(other)
  }
  return near
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
export function countActions(resources: readonly PlannedResource[]): [Action, number][] {
  const counts = new Map<Action, number>()
  for (const { action } of resources) counts.set(action, (counts.get(action) ?? 0) + 1)
  return URGENCY.flatMap((action) => {
    const count = counts.get(action)
    return count === undefined ? [] : [[action, count] as [Action, number]]
  })
}

const LONGEST = 300

/** Returns the address for display, with the key of a deposed object. */
export const shownAddress = ({ address, deposed }: PlannedResource): string =>
  excerpt(address, LONGEST) + (deposed === null ? '' : ` (left over, ${excerpt(deposed, 20)})`)

/** Returns name and instance, for boxes that show the type separately. */
export const shownName = ({ name, index }: PlannedResource): string =>
  excerpt(index === null ? name : `${name}[${typeof index === 'string' ? `"${index}"` : index}]`, 80)
