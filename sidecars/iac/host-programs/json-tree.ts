/** JSON as the engine reads it. Of duplicate keys all stay, so that none can hide another. */
export type JsonNode =
  | { kind: 'object'; entries: { key: string; line: number; value: JsonNode }[] }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'string'; value: string }
  | { kind: 'other' }

const MAX_DEPTH = 200
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORD = /[\w.+-]+/y
const SPACE = /[\s\uFEFF]*/y

/** Null when the text is not JSON or nests deeper than any configuration does. */
export function parseJsonTree(text: string): JsonNode | null {
  const reader = new JsonReader(text)
  try {
    return reader.readDocument()
  } catch {
    return null
  }
}

class JsonReader {
  readonly #text: string
  #at = 0
  #line = 1
  #counted = 0

  constructor(text: string) {
    this.#text = text
  }

  readDocument(): JsonNode {
    const node = this.#readValue(0)
    this.#take(SPACE)
    if (this.#at !== this.#text.length) throw new SyntaxError('text after the document')
    return node
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

  #readString(): string {
    const literal = this.#take(STRING)
    // A string with a bare line feed is no valid JSON, but must not escape the check because of that.
    return JSON.parse(literal.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'))
  }

  #currentLine(): number {
    for (; this.#counted < this.#at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++
    return this.#line
  }

  #readValue(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    const char = this.#peek()
    if (char === '"') return { kind: 'string', value: this.#readString() }
    if (char === '{') return this.#readObject(depth)
    if (char === '[') return this.#readArray(depth)
    this.#take(WORD)
    return { kind: 'other' }
  }

  #readObject(depth: number): JsonNode {
    const entries: { key: string; line: number; value: JsonNode }[] = []
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
      entries.push({ key, line, value: this.#readValue(depth + 1) })
      if (this.#skipSeparator('}')) return { kind: 'object', entries }
    }
  }

  #readArray(depth: number): JsonNode {
    const items: JsonNode[] = []
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

  /** Steps over a comma or the closing bracket; true for the bracket. */
  #skipSeparator(end: string): boolean {
    const char = this.#peek()
    if (char !== ',' && char !== end) throw new SyntaxError('a comma is missing')
    this.#at++
    return char === end
  }
}
