import type { EventChannel, RoundEvent } from './round-event.ts'

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

/** Maximum number and bytes of the newest events that a backlog keeps. The last one is always kept. */
const WINDOW_ROWS = 200
const WINDOW_BYTES = 128 * 1024

export type Backlog = ReturnType<typeof createBacklog>

/**
 * Creates the backlog of a session in one channel: its newest events, shared by all readers of its streams. A reader
 * that is too slow falls behind it and gets the events in between from the database.
 * @param head the newest event when the backlog begins; readers get it and earlier ones from the database
 */
export function createBacklog(key: string, sessionId: number, channel: EventChannel, head: number) {
  const listeners = new Set<() => void>()
  const window: Frame[] = []
  let bytes = 0
  let start = head
  let last: { cursor: number; frames: readonly Frame[] } | null = null
  const shorten = () => {
    while (window.length > WINDOW_ROWS || (bytes > WINDOW_BYTES && window.length > 1)) {
      const oldest = window.shift()
      if (!oldest) return
      bytes -= oldest.bytes.byteLength
      start = oldest.id
    }
  }
  return {
    key,
    sessionId,
    channel,
    listeners,
    /** The id of the newest event read. */
    get head() {
      return head
    },
    /** Events with greater ids are in memory. */
    get start() {
      return start
    },
    /** Returns the events after a reader's cursor; null for none yet, `'behind'` when some are no longer in memory. */
    after(cursor: number): readonly Frame[] | null | 'behind' {
      if (cursor >= head) return null
      if (cursor < start) return 'behind'
      if (last?.cursor !== cursor) last = { cursor, frames: window.filter(({ id }) => id > cursor) }
      return last.frames
    },
    /** Adds events and calls the listeners if any are new. */
    add(frames: readonly Frame[]): void {
      const fresh = frames.filter(({ id }) => id > head)
      if (fresh.length === 0) return
      for (const frame of fresh) {
        window.push(frame)
        bytes += frame.bytes.byteLength
        head = frame.id
      }
      last = null
      // Streams that are up to date send the new events before older ones are dropped.
      for (const listener of [...listeners]) listener()
      shorten()
      last = null
    },
  }
}
