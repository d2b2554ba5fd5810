import type { EventChannel, RoundEvent } from './round-event.ts'
import type { Topic } from './subscriptions.ts'

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

/** Maximum number and bytes of the newest events that a feed keeps. The last one is always kept. */
const WINDOW_ROWS = 200
const WINDOW_BYTES = 128 * 1024

/** The newest events of a session in one channel, shared by all its streams. */
export interface Feed extends Topic {
  readonly sessionId: number
  readonly channel: EventChannel
  /** The id of the newest event read. */
  readonly head: number
  /** Events with greater ids are in memory. */
  readonly start: number
  /** Returns the events after a cursor; null for none yet, `'behind'` when some are no longer in memory. */
  after(cursor: number): readonly Frame[] | null | 'behind'
  /** Adds events and calls the listeners if any are new. */
  add(frames: readonly Frame[]): void
}

/** @param head the newest event when the feed begins; streams read it and earlier ones from the database */
export function createFeed(key: string, sessionId: number, channel: EventChannel, head: number): Feed {
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
    get head() {
      return head
    },
    get start() {
      return start
    },
    after(cursor) {
      if (cursor >= head) return null
      if (cursor < start) return 'behind'
      if (last?.cursor !== cursor) last = { cursor, frames: window.filter(({ id }) => id > cursor) }
      return last.frames
    },
    add(frames) {
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
