import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Box, Drawing } from './grouping.ts'
import type { LayoutAnswer, LayoutRequest } from './layout-worker.ts'

interface Place {
  x: number
  y: number
}

export interface Layout {
  drawing: Drawing
  places: readonly Place[]
  /** True if the layout failed, so that the boxes are in rows. */
  isPlain: boolean
}

export const BOX = { width: 232, height: 56 }

/** Returns the positions of the boxes, computed by a worker; null until the first result. */
export function useLayout(drawing: Drawing): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null)
  const request = useMemo(() => toRequest(drawing), [drawing])
  useEffect(
    () =>
      askWorker(request, (places) =>
        setLayout({ drawing, places: places ?? inRows(drawing.boxes), isPlain: places === null }),
      ),
    [request, drawing],
  )
  return layout
}

function toRequest({ boxes, ties }: Drawing): LayoutRequest {
  const places = new Map(boxes.map(({ id }, index) => [id, index]))
  return {
    sizes: boxes.map(() => BOX),
    ties: ties.map(({ from, to }) => [places.get(from) as number, places.get(to) as number] as const),
  }
}

function inRows(boxes: readonly Box[]): Place[] {
  const columns = Math.max(1, Math.ceil(Math.sqrt(boxes.length / 3)))
  return boxes.map((_, index) => ({
    x: (index % columns) * (BOX.width + 48),
    y: Math.floor(index / columns) * (BOX.height + 24),
  }))
}

/** Starts a worker and returns a function that stops it. A worker that takes too long results in null. */
function askWorker(request: LayoutRequest, answer: (places: LayoutAnswer['places']) => void): () => void {
  const address = document.documentElement.dataset.layoutWorker
  if (!address) {
    answer(null)
    return () => {}
  }
  const worker = new Worker(address, { type: 'module' })
  const timer = setTimeout(() => end(null), 8_000)
  const stop = () => {
    clearTimeout(timer)
    worker.terminate()
  }
  const end = (places: LayoutAnswer['places']) => {
    stop()
    answer(places)
  }
  worker.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => end(data.places))
  worker.addEventListener('error', () => end(null))
  worker.postMessage(request)
  return stop
}

const DIRECTIONS: Record<string, readonly [axis: 'x' | 'y', sign: 1 | -1]> = {
  ArrowLeft: ['x', -1],
  ArrowRight: ['x', 1],
  ArrowUp: ['y', -1],
  ArrowDown: ['y', 1],
}
export const isArrow = (key: string): boolean => key in DIRECTIONS

/** The weight of a sideways distance relative to one straight ahead. */
const SIDEWAYS = 3

/** Returns the place next to another one in the direction of an arrow key; null at the edge. */
export function nextPlace(places: readonly Place[], from: number, key: string): number | null {
  const start = places[from]
  const [axis, sign] = DIRECTIONS[key] ?? []
  if (!start || !axis || !sign) return null
  const other = axis === 'x' ? 'y' : 'x'
  let best: number | null = null
  let least = Number.POSITIVE_INFINITY
  for (const [index, place] of places.entries()) {
    const ahead = sign * (place[axis] - start[axis])
    if (index === from || ahead <= 0) continue
    const distance = ahead + SIDEWAYS * Math.abs(place[other] - start[other])
    if (distance < least) {
      least = distance
      best = index
    }
  }
  return best
}
