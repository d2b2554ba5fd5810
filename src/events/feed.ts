import type { Frame } from './frames.ts'
import type { EventChannel } from './round-event.ts'
import type { Topic } from './subscriptions.ts'

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
