import { storable } from '../data/db/values.ts'
import type { RoundEvent } from './round-event.ts'

/** Most UTF-16 units of a text of an event. */
export const LONGEST_TEXT = 500
/** Most UTF-16 units of one line of output. */
const LONGEST_LINE = 2_000
/** Most UTF-16 units of the lines that one event holds. */
export const LONGEST_PIECE = 8_000

/**
 * The form in which an event is stored: masked, without what PostgreSQL cannot store, long lines cut. An event with
 * many lines becomes several.
 */
export function toStorable(event: RoundEvent, mask: (text: string) => string): RoundEvent[] {
  // Characters that are dropped could stand inside of a secret, so they go first; a cut comes last, as it could leave
  // a part of a secret that no mask knows.
  const clean = (text: string) => mask(storable(text))
  if (event.type === 'lines') return splitLines(clean(event.text)).map((text) => ({ ...event, text }))
  const entries = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === 'string' && key !== 'type' ? cutEnd(clean(value), LONGEST_TEXT) : value,
  ])
  return [Object.fromEntries(entries)]
}

/** Groups of whole lines that are short enough for one event; each ends with a line break when the text does. */
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

/** The beginning of a text that is too long, with an ellipsis. */
const cutEnd = (text: string, limit: number) =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
