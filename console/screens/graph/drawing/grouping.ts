import type { PlannedResource } from '../../../client/api/client.ts'
import { byUrgency, changes, type Graph, isCriticalLoss } from '../graph-model.ts'

/** One box of the drawing: a resource, or a group of resources of one module or type. */
export interface Box {
  id: string
  /** The indexes of its resources in the plan; one for a resource. */
  members: readonly number[]
  /** The group; null for a resource. */
  group: { title: string; canOpen: boolean } | null
}

interface Tie {
  /** The id of the dependency. */
  from: string
  to: string
}

export type Drawing = ReturnType<typeof draw>

interface Options {
  /** The ids of opened groups. */
  open: ReadonlySet<string>
  /** The resource that is drawn individually even if it belongs to a group. */
  apart: number | null
}

/** The maximum number of boxes; more are collapsed. */
export const MOST_BOXES = 300
const MOST_TIES = 1_500
const MOST_APART = 40

/** Returns the boxes of the selected resources: one each or, when there are too many, one per module. */
export function draw(graph: Graph, selected: readonly number[], { open, apart }: Options) {
  const boxes = selected.length <= MOST_BOXES ? selected.map(single) : collapse(graph, selected, open, apart)
  return { boxes, ...tie(graph, boxes) }
}

const single = (index: number): Box => ({ id: `r${index}`, members: [index], group: null })

function collapse(graph: Graph, selected: readonly number[], open: ReadonlySet<string>, apart: number | null): Box[] {
  const losses = selected.filter((index) => isCriticalLoss(graph.resources[index] as PlannedResource))
  const alone = new Set(losses.slice(0, MOST_APART))
  if (apart !== null) alone.add(apart)
  const boxes = [...alone].filter((index) => index === apart || selected.includes(index)).map(single)
  const rest = selected.filter((index) => !alone.has(index))
  let modules = Map.groupBy(rest, (index) => graph.resources[index]?.module_address ?? '')
  // One module per instance of a loop would be no fewer boxes than its resources.
  if (modules.size > MOST_BOXES / 2) modules = Map.groupBy(rest, (index) => topModule(graph.resources[index]))
  for (const [module, members] of fold(graph, modules)) boxes.push(...ofModule(graph, module, members, open))
  return boxes
}

const topModule = (resource: PlannedResource | undefined): string =>
  /^module\.[^.[]+/.exec(resource?.module_address ?? '')?.[0] ?? ''

function ofModule(graph: Graph, module: string, members: number[], open: ReadonlySet<string>): Box[] {
  const id = `m${module}`
  if (members.length === 1) return members.map(single)
  if (!open.has(id) && module !== '') return [{ id, members, group: { title: module, canOpen: module !== OTHERS } }]
  if (members.length <= MOST_BOXES / 2) return members.map(single)
  const types = fold(
    graph,
    Map.groupBy(members, (index) => graph.resources[index]?.type ?? ''),
  )
  return types.flatMap(([type, ofType]) => ofTypes(graph, `t${module}/${type}`, type, ofType, open))
}

function ofTypes(graph: Graph, id: string, type: string, members: number[], open: ReadonlySet<string>): Box[] {
  if (members.length === 1) return members.map(single)
  if (!open.has(id)) return [{ id, members, group: { title: type, canOpen: type !== OTHERS } }]
  const sorted = byUrgency(graph, members)
  const rest = sorted.slice(MOST_BOXES / 2)
  const boxes = sorted.slice(0, MOST_BOXES / 2).map(single)
  if (rest.length > 0)
    boxes.push({ id: `${id}/rest`, members: rest, group: { title: `${type}, the rest`, canOpen: false } })
  return boxes
}

const OTHERS = 'all others'

/** Keeps the groups with the most changes and merges the others. */
function fold(graph: Graph, groups: Map<string, number[]>): [string, number[]][] {
  if (groups.size <= MOST_BOXES / 2) return [...groups]
  const changed = (index: number) => changes(graph.resources[index] as PlannedResource)
  const weights = new Map([...groups].map(([name, members]) => [name, members.filter(changed).length]))
  const sorted = [...groups].toSorted(([a], [b]) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0))
  const others = sorted.splice(MOST_BOXES / 2 - 1)
  return [...sorted, [OTHERS, others.flatMap(([, members]) => members)]]
}

function tie(graph: Graph, boxes: readonly Box[]) {
  const boxOf = new Map<number, string>()
  for (const { id, members } of boxes) for (const index of members) boxOf.set(index, id)
  const seen = new Set<string>()
  const ties: Tie[] = []
  for (const [index, to] of boxOf)
    for (const needed of graph.needs[index] ?? []) {
      const from = boxOf.get(needed)
      if (from === undefined || from === to || seen.has(`${from}\n${to}`)) continue
      seen.add(`${from}\n${to}`)
      if (ties.length < MOST_TIES) ties.push({ from, to })
    }
  /** The number of ties that are not drawn, because there are too many. */
  const tiesLeftOut = seen.size - ties.length
  return { ties, tiesLeftOut }
}

/** Returns the id of the box that contains a resource; null when it is not drawn. */
export const boxWith = ({ boxes }: Drawing, index: number): string | null =>
  boxes.find(({ members }) => members.includes(index))?.id ?? null
