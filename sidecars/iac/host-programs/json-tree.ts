import { parseTemplate } from '../../../src/hcl/parser.ts'
import { MAX_DEPTH } from '../../../src/hcl/scanner.ts'
import type { HclCall } from '../../../src/hcl/tree.ts'
import { type ConfigEntry, type ConfigNode, type ConfigTree, TooManyTokens } from './config-tree.ts'

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORD = /[\w.+-]+/y
const SPACE = /[\s\uFEFF]*/y
const TEMPLATE = /[$%]\{/

/**
 * Parses JSON as the engine does; `root` is computed where that fails. Errors: `TooManyTokens`.
 * @param templates true if strings are expressions of the language; false for data such as a manifest
 */
export function parseJsonTree(text: string, maxTokens: number, templates = true): ConfigTree {
  const calls: HclCall[] = []
  let [tokens, at, line, counted, complete] = [0, 0, 1, 0, true]

  function take(pattern: RegExp): string {
    pattern.lastIndex = at
    const [match] = pattern.exec(text) ?? []
    if (match === undefined) throw new SyntaxError(`unexpected character at ${at}`)
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

  function readString(): ConfigNode {
    const start = currentLine()
    // A bare line feed is no valid JSON, but must not let the string escape the check.
    const literal = take(STRING).replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    const value: string = JSON.parse(literal)
    if (!templates || !TEMPLATE.test(value)) return { kind: 'string', value, whole: true }
    const template = parseTemplate(value, start, maxTokens - tokens)
    // Line numbers inside of the string are not those of the file.
    for (const call of template.calls) calls.push({ ...call, line: start })
    countTokens(template.tokens)
    if (!template.complete) complete = false
    return template.value
  }

  function readValue(depth: number): ConfigNode {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    countTokens(1)
    const char = peek()
    if (char === '"') return readString()
    if (char === '{') return { kind: 'object', entries: readMembers('}', () => readEntry(depth + 1)) }
    if (char === '[') return { kind: 'array', items: readMembers(']', () => readValue(depth + 1)) }
    return { kind: 'word', word: take(WORD) }
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

  function readEntry(depth: number): ConfigEntry {
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
    return { root, calls, complete, tokens }
  } catch (error) {
    if (error instanceof TooManyTokens) throw error
    return { root: { kind: 'computed' }, calls, complete: false, tokens }
  }
}
