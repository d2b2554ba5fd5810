import {
  blockEntries,
  COMPUTED,
  type ConfigEntry,
  type ConfigNode,
  type ConfigTree,
  type FunctionCall,
  MODULE_PATH,
  ROOT_PATH,
  TooManyTokens,
} from './config-tree.ts'
import { HclScanner, type HclToken, MAX_DEPTH } from './hcl-tokens.ts'

/** Reads a file of the native form. Errors: `TooManyTokens`. */
export function parseHclTree(source: string, maxTokens: number): ConfigTree {
  const parser = new HclParser(new HclScanner(source), maxTokens)
  const root = parser.readFile()
  return { root, calls: parser.calls, complete: parser.complete, tokens: parser.tokens }
}

/** Reads a string of the JSON form, which holds templates as a string in quotes does. Errors: `TooManyTokens`. */
export function parseTemplate(
  text: string,
  line: number,
  maxTokens: number,
): { node: ConfigNode; calls: FunctionCall[]; complete: boolean; tokens: number } {
  const parser = new HclParser(new HclScanner(text, 'bare', line), maxTokens)
  const node = parser.readString('eof')
  return { node, calls: parser.calls, complete: parser.complete, tokens: parser.tokens }
}

/** Where a value ends, apart from the closing brackets that surround it. */
type Stops = 'line' | 'comma' | 'key' | 'item'

class HclParser {
  readonly calls: FunctionCall[] = []
  readonly #scanner: HclScanner
  readonly #maxTokens: number
  #peeked: HclToken | null = null
  #depth = 0
  #broken = false

  constructor(scanner: HclScanner, maxTokens: number) {
    this.#scanner = scanner
    this.#maxTokens = maxTokens
  }

  get complete(): boolean {
    return !this.#broken && this.#scanner.complete
  }

  get tokens(): number {
    return this.#scanner.count
  }

  readFile(): ConfigNode {
    const entries: ConfigEntry[] = []
    while (this.#peek().kind !== 'eof') {
      this.#readStatements(entries)
      // A brace that closes nothing: the scanner has noted it.
      if (this.#peek().kind !== 'eof') this.#take()
    }
    return { kind: 'object', entries }
  }

  #peek(): HclToken {
    this.#peeked ??= this.#scanner.next()
    return this.#peeked
  }

  #take(): HclToken {
    const token = this.#peek()
    if (token.kind !== 'eof') this.#peeked = null
    if (this.#scanner.count > this.#maxTokens) throw new TooManyTokens()
    return token
  }

  #isSymbol(...texts: string[]): boolean {
    const token = this.#peek()
    return token.kind === 'symbol' && texts.includes(token.text)
  }

  /** Whether no deeper level may be opened. What would stand there is skipped, and the text counts as not followed. */
  #isTooDeep(): boolean {
    if (this.#depth < MAX_DEPTH) return false
    this.#broken = true
    while (this.#take().kind !== 'eof');
    return true
  }

  #nested<T>(read: () => T, tooDeep: T): T {
    if (this.#isTooDeep()) return tooDeep
    this.#depth++
    const result = read()
    this.#depth--
    return result
  }

  /** Reads attributes and blocks up to a closing brace or the end. */
  #readStatements(entries: ConfigEntry[]): void {
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'eof' || this.#isSymbol('}')) return
      if (token.kind === 'identifier' || token.kind === 'open') this.#readStatement(entries)
      else if (token.kind === 'newline' || this.#isEnd('line')) this.#take()
      else this.#readRest('line')
    }
  }

  #readStatement(entries: ConfigEntry[]): void {
    const { line } = this.#peek()
    const header: string[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'identifier') header.push(this.#take().text)
      else if (token.kind === 'open') {
        this.#take()
        const label = this.readString('close')
        header.push(label.kind === 'string' && label.whole ? label.value : '')
      } else break
    }
    if (this.#isSymbol('=')) {
      this.#take()
      entries.push({ key: header.at(-1) ?? '', line, value: this.#readValue('line') })
    } else if (this.#isSymbol('{')) {
      this.#take()
      const body: ConfigEntry[] = []
      this.#nested(() => this.#readStatements(body), undefined)
      if (this.#isSymbol('}')) this.#take()
      entries.push(...blockEntries(header, line, { kind: 'object', entries: body }))
    } else this.#readRest('line')
  }

  #isEnd(stops: Stops): boolean {
    const { kind, text } = this.#peek()
    if (kind === 'eof' || kind === 'end' || kind === 'close') return true
    if (kind === 'newline') return stops !== 'comma'
    if (kind !== 'symbol') return false
    if (text === '}' || text === ']' || text === ')') return true
    return (text === ',' && stops !== 'line') || (stops === 'key' && (text === '=' || text === ':'))
  }

  #skipNewlines(): void {
    while (this.#peek().kind === 'newline') this.#take()
  }

  /** Reads one value up to where it ends. A value that is more than one literal is computed. */
  #readValue(stops: Stops): ConfigNode {
    if (stops === 'comma') this.#skipNewlines()
    if (this.#isEnd(stops)) return COMPUTED
    const node = this.#readPrimary()
    if (stops === 'comma') this.#skipNewlines()
    if (this.#isEnd(stops)) return node
    this.#readRest(stops)
    return COMPUTED
  }

  /** Reads what follows in a value, for the calls in it. */
  #readRest(stops: Stops): void {
    while (!this.#isEnd(stops)) this.#readPrimary()
  }

  #readPrimary(): ConfigNode {
    const token = this.#take()
    if (token.kind === 'open') return this.readString('close')
    if (token.kind === 'identifier') return this.#readName(token)
    if (token.kind !== 'symbol') return COMPUTED
    if (token.text === '{') return this.#nested(() => this.#readObject(), COMPUTED)
    if (token.text === '[') return this.#nested(() => this.#readList(']'), COMPUTED)
    if (token.text === '(') {
      const list = this.#nested(() => this.#readList(')'), COMPUTED)
      const [only, ...more] = list.kind === 'array' ? list.items : []
      return only && more.length === 0 && only.kind !== 'word' ? only : COMPUTED
    }
    return { kind: 'word', word: token.text }
  }

  #readName(token: HclToken): ConfigNode {
    if (this.#isSymbol('(')) {
      this.#take()
      const list = this.#nested(() => this.#readList(')'), COMPUTED)
      this.calls.push({ name: token.text, line: token.line, args: list.kind === 'array' ? list.items.slice(0, 2) : [] })
      return COMPUTED
    }
    if (token.text !== 'path' || !this.#isSymbol('.')) return { kind: 'word', word: token.text }
    this.#take()
    const { kind, text } = this.#peek()
    const marker = kind === 'identifier' ? PATHS[text] : undefined
    if (marker === undefined) return COMPUTED
    this.#take()
    return { kind: 'string', value: marker, whole: true }
  }

  #readList(close: string): ConfigNode {
    const items: ConfigNode[] = []
    let computed = false
    for (;;) {
      this.#skipNewlines()
      const token = this.#peek()
      if (token.kind === 'eof' || token.kind === 'end' || token.kind === 'close') break
      if (this.#isSymbol('}', ']', ')')) {
        if (this.#take().text !== close) this.#broken = true
        break
      }
      if (this.#isSymbol(',')) {
        this.#take()
        continue
      }
      if (token.kind === 'identifier' && token.text === 'for') computed = true
      items.push(this.#readValue('comma'))
    }
    return computed ? COMPUTED : { kind: 'array', items }
  }

  #readObject(): ConfigNode {
    const entries: ConfigEntry[] = []
    let computed = false
    for (;;) {
      this.#skipNewlines()
      const token = this.#peek()
      if (token.kind === 'eof' || token.kind === 'end' || token.kind === 'close') break
      if (this.#isSymbol('}', ']', ')')) {
        if (this.#take().text !== '}') this.#broken = true
        break
      }
      if (this.#isSymbol(',')) {
        this.#take()
        continue
      }
      const key = this.#readValue('key')
      if (!this.#isSymbol('=', ':')) {
        // A `for` expression, or no object at all.
        computed = true
        this.#readRest('comma')
        continue
      }
      this.#take()
      this.#skipNewlines()
      entries.push({ key: keyOf(key), line: token.line, value: this.#readValue('item') })
    }
    if (computed) entries.push({ key: null, line: 0, value: COMPUTED })
    return { kind: 'object', entries }
  }

  /** Reads the pieces of a string up to its end. A template that is one literal counts as part of it. */
  readString(end: 'close' | 'eof'): ConfigNode {
    const pieces: string[] = []
    let whole = true
    let only: ConfigNode | null = null
    let count = 0
    for (;;) {
      const token = this.#take()
      if (token.kind === end || token.kind === 'eof') break
      count++
      if (token.kind === 'literal' && whole) pieces.push(token.text)
      if (token.kind !== 'template') continue
      const value = this.#nested(() => this.#readTemplate(token.text), COMPUTED)
      if (value.kind === 'string' && whole) {
        pieces.push(value.value)
        whole = value.whole
      } else {
        whole = false
        only = value
      }
    }
    // A string that is one template alone has the value of the template, whatever its type is.
    if (count === 1 && only !== null && only.kind !== 'word') return only
    return { kind: 'string', value: pieces.join(''), whole }
  }

  #readTemplate(introducer: string): ConfigNode {
    if (this.#isSymbol('~')) this.#take()
    const value = this.#readValue('comma')
    let alone = introducer === '$'
    while (this.#peek().kind !== 'end' && this.#peek().kind !== 'eof') {
      if (this.#isSymbol('~')) this.#take()
      else {
        alone = false
        if (this.#isEnd('comma')) this.#take()
        else this.#readRest('comma')
      }
    }
    if (this.#peek().kind === 'end') this.#take()
    return alone ? value : COMPUTED
  }
}

const PATHS: Record<string, string | undefined> = Object.assign(Object.create(null), {
  module: MODULE_PATH,
  root: ROOT_PATH,
  cwd: ROOT_PATH,
})

const keyOf = (node: ConfigNode): string | null => {
  if (node.kind === 'word') return node.word
  return node.kind === 'string' && node.whole ? node.value : null
}
