import type { ParsedFile } from './parse.ts'
import { isAtRoot } from './table.ts'

/** An import between two files, seen as one between their rooms. */
export interface Tie {
  from: string
  to: string
  file: string
  line: number
  target: string
  kind: 'value' | 'type'
}

/** All imports from one room into another. */
export interface RoomEdge {
  from: string
  to: string
  ties: Tie[]
}

/** Rooms or files that reach one another, and the imports between them. */
export interface Cycle {
  members: string[]
  ties: Tie[]
}

export interface Graph {
  /** Only between different rooms. */
  edges: RoomEdge[]
  roomCycles: { values: Cycle[]; types: Cycle[] }
  fileCycles: { values: Cycle[]; types: Cycle[] }
  /** Files that import the file, by its path. */
  importers: Map<string, Set<string>>
}

/**
 * The graphs of rooms and of files. `values` are cycles of what is loaded at run time, `types` those that appear when
 * imports of types count too.
 */
export function buildGraph(files: readonly ParsedFile[], roomOf: (path: string) => string): Graph {
  const known = new Set(files.map(({ path }) => path))
  const all = files.flatMap((file) => readTies(file, roomOf))
  const inside = all.filter(({ target }) => known.has(target))
  const between = all.filter(({ from, to }) => from !== to)
  const byValue = ({ kind }: Tie) => kind === 'value'
  const importers = new Map<string, Set<string>>()
  for (const { file, target } of inside) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  return {
    edges: groupByRooms(between),
    roomCycles: newCycles(between, byValue, ({ from, to }) => [from, to]),
    fileCycles: newCycles(inside, byValue, ({ file, target }) => [file, target]),
    importers,
  }
}

function readTies(file: ParsedFile, roomOf: (path: string) => string): Tie[] {
  const from = roomOf(file.path)
  return file.imports.flatMap(({ target, line, kind }) =>
    target === null || isAtRoot(target) ? [] : [{ from, to: roomOf(target), file: file.path, line, target, kind }],
  )
}

function groupByRooms(ties: readonly Tie[]): RoomEdge[] {
  const edges = new Map<string, RoomEdge>()
  for (const tie of ties) {
    const key = `${tie.from} ${tie.to}`
    const edge = edges.get(key) ?? { from: tie.from, to: tie.to, ties: [] }
    edge.ties.push(tie)
    edges.set(key, edge)
  }
  return [...edges.values()]
}

type Ends = (tie: Tie) => [string, string]

/** A knot of values that types do not make larger is told once, under `values`. */
function newCycles(ties: readonly Tie[], byValue: (tie: Tie) => boolean, ends: Ends) {
  const values = findCycles(ties.filter(byValue), ends)
  const known = new Set(values.map(({ members }) => members.join('\n')))
  return { values, types: findCycles(ties, ends).filter(({ members }) => !known.has(members.join('\n'))) }
}

/** The strongly connected components of more than one node, and the nodes that import themselves. */
export function findCycles(ties: readonly Tie[], ends: Ends): Cycle[] {
  const next = new Map<string, Set<string>>()
  for (const tie of ties) {
    const [from, to] = ends(tie)
    next.set(from, (next.get(from) ?? new Set()).add(to))
  }
  return findComponents(next)
    .filter((members) => members.length > 1 || next.get(members[0] ?? '')?.has(members[0] ?? ''))
    .map((members) => {
      const inside = new Set(members)
      return { members: members.sort(), ties: ties.filter((tie) => ends(tie).every((end) => inside.has(end))) }
    })
    .sort((a, b) => b.members.length - a.members.length)
}

/** Tarjan's algorithm. It recurses as deep as the longest chain of imports, some hundred calls. */
function findComponents(next: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()
  const components: string[][] = []
  const visit = (node: string): number => {
    const position = order.size
    order.set(node, position)
    let lowest = position
    stack.push(node)
    open.add(node)
    for (const target of next.get(node) ?? []) {
      const known = order.get(target)
      if (known === undefined) lowest = Math.min(lowest, visit(target))
      else if (open.has(target)) lowest = Math.min(lowest, known)
    }
    if (lowest === position) {
      const component = stack.splice(stack.indexOf(node))
      for (const member of component) open.delete(member)
      components.push(component)
    }
    return lowest
  }
  for (const node of next.keys()) if (!order.has(node)) visit(node)
  return components
}
