import { useEffect, useMemo, useState } from 'preact/hooks'
import type { LayoutAnswer, LayoutRequest } from '../../../ui/workers/layout.ts'
import type { Box, Drawing } from './grouping.ts'

export interface Layout {
  drawing: Drawing
  places: readonly { x: number; y: number }[]
  /** True if the layout failed, so that the boxes are in rows. */
  isPlain: boolean
}

export const BOX = { width: 232, height: 56 }
const LONGEST_MS = 8_000

/** Returns the positions of the boxes, computed by a worker; null until the first result. */
export function useLayout(drawing: Drawing): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null)
  const request = useMemo(() => toRequest(drawing), [drawing])
  useEffect(() => askWorker(request, (places) => setLayout(toLayout(drawing, places))), [request, drawing])
  return layout
}

function toRequest({ boxes, ties }: Drawing): LayoutRequest {
  const places = new Map(boxes.map(({ id }, index) => [id, index]))
  return {
    sizes: boxes.map(() => BOX),
    ties: ties.map(({ from, to }) => [places.get(from) as number, places.get(to) as number] as const),
  }
}

const toLayout = (drawing: Drawing, places: LayoutAnswer['places']): Layout => ({
  drawing,
  places: places ?? inRows(drawing.boxes),
  isPlain: places === null,
})

function inRows(boxes: readonly Box[]): { x: number; y: number }[] {
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
  const timer = setTimeout(() => end(null), LONGEST_MS)
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
