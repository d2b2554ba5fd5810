/**
 * Finds a cycle in a graph: its nodes in order, the first one repeated at the end; null if there is none.
 * @param graph the successors of each node
 */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const left = new Map(graph)
  const next = (node: string) => left.get(node)?.find((target) => left.has(target))
  // A node without successors is on no cycle. Without it, others may have none either.
  for (let size = -1; size !== left.size; ) {
    size = left.size
    for (const node of left.keys()) if (next(node) === undefined) left.delete(node)
  }
  const [first] = left.keys()
  if (first === undefined) return null
  const path = [first]
  while (true) {
    const node = next(path.at(-1) ?? first) ?? first
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    path.push(node)
  }
}
