import { storable } from '../data/db/values.ts'
import type { RoundEvent } from './round-event.ts'

/** Maximum UTF-16 units of an event's text. */
export const LONGEST_TEXT = 500
/** Maximum UTF-16 units of a line of output. */
const LONGEST_LINE = 2_000
/** Maximum UTF-16 units of the lines of one event. */
export const LONGEST_PIECE = 8_000

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

/** Cuts a text that is too long and adds an ellipsis. */
const cutEnd = (text: string, limit: number) =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
