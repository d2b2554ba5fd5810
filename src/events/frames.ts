import type { RoundEvent } from './round-event.ts'

/** An encoded event, shared by all its readers. */
export interface Frame {
  id: number
  round: number
  bytes: Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()

/** Encodes an event of a round for an event stream, with its JSON on a single line. */
export function toFrame({ id, round, at, event }: { id: number; round: number; at: string; event: RoundEvent }): Frame {
  const { type, ...rest } = event
  const data = JSON.stringify({ id, round, at, type, ...rest })
  return { id, round, bytes: encoder.encode(`id: ${id}\nevent: ${type}\ndata: ${data}\n\n`) }
}

/** Returns the last frame of a stream, which has no id. */
export const endFrame = (status: string): Uint8Array<ArrayBuffer> =>
  encoder.encode(`event: end\ndata: ${JSON.stringify({ status })}\n\n`)

const joined = new WeakMap<readonly Frame[], Uint8Array<ArrayBuffer>>()

/** Joins the bytes of several frames, once per list for all its readers. */
export function joinFrames(frames: readonly Frame[]): Uint8Array<ArrayBuffer> {
  const known = joined.get(frames)
  if (known) return known
  const all = new Uint8Array(frames.reduce((sum, { bytes }) => sum + bytes.byteLength, 0))
  let end = 0
  for (const { bytes } of frames) {
    all.set(bytes, end)
    end += bytes.byteLength
  }
  joined.set(frames, all)
  return all
}
