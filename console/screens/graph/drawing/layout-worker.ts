import { Graph, layout } from '@dagrejs/dagre'

/** The input of the layout worker: the sizes of boxes in pixels, and ties by index of the boxes. */
export interface LayoutRequest {
  sizes: readonly { width: number; height: number }[]
  ties: readonly (readonly [from: number, to: number])[]
}

/** The upper left corners of the boxes, in the order of the request; null if the layout failed. */
export interface LayoutAnswer {
  places: { x: number; y: number }[] | null
}

/** The number of boxes above which the better ranking takes seconds. */
const MANY_BOXES = 150

/** Arranges boxes in columns, each dependency to the left of its dependents. */
export function arrange({ sizes, ties }: LayoutRequest): { x: number; y: number }[] {
  const graph = new Graph()
  graph.setGraph({
    rankdir: 'LR',
    nodesep: 16,
    ranksep: 72,
    ranker: sizes.length > MANY_BOXES ? 'longest-path' : 'network-simplex',
  })
  graph.setDefaultEdgeLabel(() => ({}))
  const { tied, loose } = split(sizes.length, ties)
  for (const index of tied) graph.setNode(String(index), { ...sizes[index] })
  for (const [from, to] of ties) graph.setEdge(String(from), String(to))
  if (tied.length > 0) layout(graph)
  const places = sizes.map(() => ({ x: 0, y: 0 }))
  let bottom = 0
  for (const index of tied) {
    const { x, y, width, height } = graph.node(String(index)) as Record<'x' | 'y' | 'width' | 'height', number>
    places[index] = { x: x - width / 2, y: y - height / 2 }
    bottom = Math.max(bottom, y + height / 2)
  }
  placeLoose(sizes, loose, places, bottom === 0 ? 0 : bottom + 40)
  return places
}

/** Separates boxes without ties, which would otherwise form one endless column. */
function split(count: number, ties: LayoutRequest['ties']) {
  const isTied = new Set(ties.flat())
  const all = Array.from({ length: count }, (_, index) => index)
  return { tied: all.filter((index) => isTied.has(index)), loose: all.filter((index) => !isTied.has(index)) }
}

function placeLoose(
  sizes: LayoutRequest['sizes'],
  loose: readonly number[],
  places: { x: number; y: number }[],
  top: number,
): void {
  const columns = Math.max(3, Math.ceil(Math.sqrt(loose.length / 3)))
  for (const [nth, index] of loose.entries()) {
    const { width = 0, height = 0 } = sizes[index] ?? {}
    places[index] = { x: (nth % columns) * (width + 24), y: top + Math.floor(nth / columns) * (height + 16) }
  }
}

if ('WorkerGlobalScope' in globalThis)
  addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
    let answer: LayoutAnswer
    try {
      answer = { places: arrange(data) }
    } catch {
      answer = { places: null }
    }
    postMessage(answer)
  })
