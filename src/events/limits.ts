import { cutEnd } from '../base/text.ts'
import { storable } from '../data/db/values.ts'
import type { EventChannel, LimitReached, RoundEvent } from './round-event.ts'

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

/** Makes the limiter of a channel, which decides which of its events are still recorded. */
export function createLimiter(limit: ChannelLimit) {
  const used: ChannelLimit = { rows: 0, bytes: 0 }
  const reserved: ChannelLimit = { rows: 0, bytes: 0 }
  let isReached = false
  const add = (to: ChannelLimit, what: ChannelLimit) => {
    to.rows += what.rows
    to.bytes += what.bytes
  }
  return {
    /** Adds the events that an earlier run of the round has stored. */
    count: (stored: ChannelLimit) => add(used, stored),
    /** Returns the events to store: this one, none, or the one that reports the limit. */
    filter: <Event extends RoundEvent>(event: Event): (Event | LimitReached)[] => {
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

/** Maximum UTF-16 units of an event's text. */
const LONGEST_TEXT = 500
/** Maximum UTF-16 units of a line of output. */
const LONGEST_LINE = 2_000
/** Maximum UTF-16 units of the lines of one event. */
const LONGEST_PIECE = 8_000

/** Masks an event, drops unstorable characters and cuts long lines. An event with many lines becomes several. */
export function toStorable(event: RoundEvent, mask: (text: string) => string): RoundEvent[] {
  // Dropped characters could be inside a secret, so they go first. Cutting comes last, because it could leave an
  // unmasked part of a secret.
  const clean = (text: string) => mask(storable(text))
  if (event.type === 'lines') return splitLines(clean(event.text)).map((text) => ({ ...event, text }))
  const entries = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === 'string' && key !== 'type' ? cutEnd(clean(value), LONGEST_TEXT) : value,
  ])
  return [Object.fromEntries(entries)]
}

/** Splits a text into groups of whole lines that fit one event; each ends with a line break if the text does. */
function splitLines(text: string): string[] {
  const end = text.endsWith('\n') ? '\n' : ''
  const lines = (end === '' ? text : text.slice(0, -1)).split('\n')
  const pieces: string[][] = []
  let length = LONGEST_PIECE
  for (const whole of lines) {
    const line = cutEnd(whole, LONGEST_LINE)
    if (length + line.length + 1 > LONGEST_PIECE) {
      pieces.push([])
      length = 0
    }
    pieces.at(-1)?.push(line)
    length += line.length + 1
  }
  return pieces.map((piece) => piece.join('\n') + end)
}
