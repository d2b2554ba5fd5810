import { isJsonObject, parseJson } from '../../base/json.ts'

/** Reads events from text that comes in pieces, which may begin and end anywhere. */
export interface EventReader {
  /** Returns the values of the events that are complete. */
  add(text: string): unknown[]
  /** Returns what is left when the text has ended. */
  end(): unknown[]
  /** True after `[DONE]`. */
  isDone(): boolean
}

/**
 * Creates a reader of the JSON values of a `text/event-stream`. Comments and other data are omitted. Some servers leave
 * out the blank line between events, and write an error as a bare line or as a field of its own.
 */
export function createEventReader(): EventReader {
  let rest = ''
  /** The data lines of an event whose value is spread over several. */
  let data: string[] = []
  let isDone = false
  const flush = (): unknown[] => {
    const lines = data
    data = []
    const whole = parseJson(lines.join('\n'))
    return (whole === undefined ? lines.map(parseJson) : [whole]).filter((value) => value !== undefined)
  }
  const read = (line: string): unknown[] => {
    if (line === '') return flush()
    const bare = /^(?:error: ?)?(\{.*)$/.exec(line)?.[1]
    if (bare !== undefined) return [parseJson(bare)].filter((value) => value !== undefined)
    if (!line.startsWith('data:')) return []
    const text = line.slice('data:'.length).replace(/^ /, '')
    if (text.trim() === '[DONE]') isDone = true
    const value = data.length === 0 ? parseJson(text) : undefined
    if (isJsonObject(value)) return [value]
    data.push(text)
    return []
  }
  const readLines = (lines: readonly string[]) => lines.flatMap(read)
  return {
    add: (text) => {
      rest += text
      // A carriage return at the end may be the first half of a line break.
      const held = rest.endsWith('\r') ? '\r' : ''
      if (!/[\r\n]/.test(held === '' ? text : rest.slice(0, -1))) return []
      const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\n|\r/)
      rest = (lines.pop() ?? '') + held
      return readLines(lines)
    },
    end: () => {
      const lines = rest.split(/\r\n|\n|\r/)
      rest = ''
      return [...readLines(lines), ...flush()]
    },
    isDone: () => isDone,
  }
}

/** Reads the values of a whole text. */
export function readEvents(text: string): unknown[] {
  const reader = createEventReader()
  return [...reader.add(text), ...reader.end()]
}
