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
  const reader = new JsonReader(text, maxTokens, templates)
  try {
    return reader.readDocument()
  } catch (error) {
    if (error instanceof TooManyTokens) throw error
    return { root: { kind: 'computed' }, calls: reader.calls, complete: false, tokens: reader.tokens }
  }
}

class JsonReader {
  readonly calls: HclCall[] = []
  tokens = 0
  readonly #text: string
  readonly #maxTokens: number
  readonly #templates: boolean
  #at = 0
  #line = 1
  #counted = 0
  #complete = true

  constructor(text: string, maxTokens: number, templates: boolean) {
    this.#text = text
    this.#maxTokens = maxTokens
    this.#templates = templates
  }

  readDocument(): ConfigTree {
    const root = this.#readValue(0)
    this.#take(SPACE)
    if (this.#at !== this.#text.length) throw new SyntaxError('text after the document')
    return { root, calls: this.calls, complete: this.#complete, tokens: this.tokens }
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [match] = pattern.exec(this.#text) ?? []
    if (match === undefined) throw new SyntaxError(`unexpected character at ${this.#at}`)
    this.#at += match.length
    return match
  }

  #peek(): string {
    this.#take(SPACE)
    return this.#text[this.#at] ?? ''
  }

  #readText(): string {
    const literal = this.#take(STRING)
    // A bare line feed is no valid JSON, but must not let the string escape the check.
    return JSON.parse(literal.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'))
  }

  #readString(): ConfigNode {
    const line = this.#currentLine()
    const value = this.#readText()
    if (!this.#templates || !TEMPLATE.test(value)) return { kind: 'string', value, whole: true }
    const template = parseTemplate(value, line, this.#maxTokens - this.tokens)
    // Line numbers inside of the string are not those of the file.
    for (const call of template.calls) this.calls.push({ ...call, line })
    this.tokens += template.tokens
    if (this.tokens > this.#maxTokens) throw new TooManyTokens()
    if (!template.complete) this.#complete = false
    return template.value
  }

  #currentLine(): number {
    for (; this.#counted < this.#at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++
    return this.#line
  }

  #readValue(depth: number): ConfigNode {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    if (++this.tokens > this.#maxTokens) throw new TooManyTokens()
    const char = this.#peek()
    if (char === '"') return this.#readString()
    if (char === '{') return this.#readObject(depth)
    if (char === '[') return this.#readArray(depth)
    return { kind: 'word', word: this.#take(WORD) }
  }

  #readObject(depth: number): ConfigNode {
    const entries: ConfigEntry[] = []
    this.#at++
    if (this.#peek() === '}') {
      this.#at++
      return { kind: 'object', entries }
    }
    for (;;) {
      this.#peek()
      const line = this.#currentLine()
      const key = this.#readString()
      if (this.#peek() !== ':') throw new SyntaxError('a colon is missing')
      this.#at++
      const value = this.#readValue(depth + 1)
      entries.push({ key: key.kind === 'string' && key.whole ? key.value : null, line, value })
      if (this.#skipSeparator('}')) return { kind: 'object', entries }
    }
  }

  #readArray(depth: number): ConfigNode {
    const items: ConfigNode[] = []
    this.#at++
    if (this.#peek() === ']') {
      this.#at++
      return { kind: 'array', items }
    }
    for (;;) {
      items.push(this.#readValue(depth + 1))
      if (this.#skipSeparator(']')) return { kind: 'array', items }
    }
  }

  /** Skips a comma or the closing bracket; returns true for the bracket. */
  #skipSeparator(end: string): boolean {
    const char = this.#peek()
    if (char !== ',' && char !== end) throw new SyntaxError('a comma is missing')
    this.#at++
    return char === end
  }
}
