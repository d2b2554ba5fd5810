import { parseTemplate } from './parser.ts'
import { MAX_DEPTH } from './scanner.ts'
import type { HclCall, HclEntry, HclValue } from './tree.ts'

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORD = /[\w.+-]+/y
/** A word that is JSON. */
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const SPACE = /[\s\uFEFF]*/y
const TEMPLATE = /[$%]\{/

/** Thrown when a file has more tokens than any that people or programs write. */
export class TooManyTokens extends Error {}

/** Line and column are from 1. */
export interface JsonFault {
  line: number
  column: number
  reason: string
}

/** A file in the JSON form of the language, where blocks and objects look the same. */
interface JsonTree {
  /** Computed if the text could not be parsed. */
  root: HclValue
  calls: HclCall[]
  /** False if the text, or a template in it, could not be parsed to its end. */
  complete: boolean
  /** Where and why the text first is no JSON; line and column from 1. */
  fault: JsonFault | null
  /** Number of tokens read. */
  tokens: number
}

/**
 * Parses JSON as the engine does; names and bare line feeds, which are no JSON, are read as well. Errors:
 * `TooManyTokens`.
 * @param templates true if strings are expressions of the language; false for data such as a manifest
 */
export function parseJsonTree(text: string, maxTokens: number, templates = true): JsonTree {
  const calls: HclCall[] = []
  let [tokens, at, line, counted, complete] = [0, 0, 1, 0, true]
  let fault: JsonFault | null = null

  function noteFault(offset: number, reason: string): void {
    fault ??= { ...placeIn(text, offset), reason }
  }

  function take(pattern: RegExp): string {
    pattern.lastIndex = at
    const [match] = pattern.exec(text) ?? []
    if (match === undefined) throw new SyntaxError(at < text.length ? 'unexpected character' : 'unexpected end')
    at += match.length
    return match
  }

  function peek(): string {
    take(SPACE)
    return text[at] ?? ''
  }

  function currentLine(): number {
    for (; counted < at; counted++) if (text[counted] === '\n') line++
    return line
  }

  function countTokens(more: number): void {
    tokens += more
    if (tokens > maxTokens) throw new TooManyTokens()
  }

  function readString(): HclValue {
    const start = currentLine()
    // A bare line feed is no valid JSON, but must not let the string escape the check.
    const from = at
    const written = take(STRING)
    const control = written.search(/[\p{Cc}--[\x7f-\x9f]]/v)
    if (control >= 0) noteFault(from + control, 'a line break or control character in a text')
    const literal = written.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    const value: string = JSON.parse(literal)
    if (!templates || !TEMPLATE.test(value)) return { kind: 'string', value, whole: true }
    const template = parseTemplate(value, start, maxTokens - tokens)
    // Line numbers inside of the string are not those of the file.
    for (const call of template.calls) calls.push({ ...call, line: start })
    countTokens(template.tokens)
    if (!template.complete) complete = false
    return template.value
  }

  function readValue(depth: number): HclValue {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    countTokens(1)
    const char = peek()
    if (char === '"') return readString()
    if (char === '{') return { kind: 'object', entries: readMembers('}', () => readEntry(depth + 1)) }
    if (char === '[') return { kind: 'array', items: readMembers(']', () => readValue(depth + 1)) }
    const from = at
    const word = take(WORD)
    if (!LITERAL.test(word)) noteFault(from, `${JSON.stringify(word)} is no value`)
    return { kind: 'word', word }
  }

  /** Reads what stands between two brackets, separated by commas. */
  function readMembers<Member>(end: string, read: () => Member): Member[] {
    const members: Member[] = []
    at++
    if (peek() === end) {
      at++
      return members
    }
    for (;;) {
      members.push(read())
      const char = peek()
      if (char !== ',' && char !== end) throw new SyntaxError('a comma is missing')
      at++
      if (char === end) return members
    }
  }

  function readEntry(depth: number): HclEntry {
    peek()
    const start = currentLine()
    const key = readString()
    if (peek() !== ':') throw new SyntaxError('a colon is missing')
    at++
    const value = readValue(depth)
    return { key: key.kind === 'string' && key.whole ? key.value : null, line: start, value }
  }

  try {
    const root = readValue(0)
    take(SPACE)
    if (at !== text.length) throw new SyntaxError('text after the document')
    return { root, calls, complete, fault, tokens }
  } catch (error) {
    if (error instanceof TooManyTokens) throw error
    noteFault(at, error instanceof SyntaxError ? error.message : 'it cannot be read')
    return { root: { kind: 'computed' }, calls, complete: false, fault, tokens }
  }
}

/** Returns line and column of an offset, from 1. */
function placeIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
