import type { EventChannel, LimitReached, RoundEvent } from './round-event.ts'
import { LONGEST_PIECE, LONGEST_TEXT } from './storable-event.ts'

/** Maximum number of a round's events in one channel, and bytes of their texts. */
export interface ChannelLimit {
  rows: number
  bytes: number
}
export const CHANNEL_LIMITS: Record<EventChannel, ChannelLimit> = {
  activity: { rows: 5_000, bytes: 1024 * 1024 },
  output: { rows: 20_000, bytes: 16 * 1024 * 1024 },
}

/** Allowance after the limit, so that readers still see the progress of the round. */
const RESERVE: ChannelLimit = { rows: 500, bytes: 128 * 1024 }
const RESERVED: readonly RoundEvent['type'][] = [
  'attempt.began',
  'chain.ended',
  'engine.ended',
  'round.cancelling',
  'step.began',
  'step.ended',
]

/** Bytes that each event counts in addition to its texts. */
const BASE_BYTES = 100

/** Decides which events of a channel are still recorded. */
export interface Limiter {
  /** Returns the events to store: this one, none, or the one that reports the limit. */
  filter<Event extends RoundEvent>(event: Event): (Event | LimitReached)[]
  /** Adds the events that an earlier run of the round has stored. */
  count(stored: ChannelLimit): void
}

export function createLimiter(limit: ChannelLimit): Limiter {
  const used: ChannelLimit = { rows: 0, bytes: 0 }
  const reserved: ChannelLimit = { rows: 0, bytes: 0 }
  let isReached = false
  const add = (to: ChannelLimit, what: ChannelLimit) => {
    to.rows += what.rows
    to.bytes += what.bytes
  }
  return {
    count: (stored) => add(used, stored),
    filter: (event) => {
      const size = sizeOf(event)
      const over = used.rows + size.rows > limit.rows ? 'rows' : used.bytes + size.bytes > limit.bytes ? 'bytes' : null
      if (!isReached && over === null) {
        add(used, size)
        return [event]
      }
      const cut: LimitReached[] = isReached ? [] : [{ type: 'cut', limit: over ?? 'rows' }]
      isReached = true
      if (!RESERVED.includes(event.type)) return cut
      if (reserved.rows >= RESERVE.rows || reserved.bytes + size.bytes > RESERVE.bytes) return cut
      add(reserved, size)
      return [...cut, event]
    },
  }
}

const encoder = new TextEncoder()

/** Returns the size of an event. Long lines and texts are shortened later, so it may be too high but never too low. */
function sizeOf(event: RoundEvent): ChannelLimit {
  if (event.type === 'lines') {
    const bytes = encoder.encode(event.text).byteLength
    return { rows: 1 + Math.floor(bytes / LONGEST_PIECE), bytes: bytes + BASE_BYTES }
  }
  const texts = Object.values(event).filter((value) => typeof value === 'string')
  return { rows: 1, bytes: texts.reduce((sum, text) => sum + Math.min(text.length, LONGEST_TEXT), BASE_BYTES) }
}
