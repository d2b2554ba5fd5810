import { HclScanner, type HclToken, MAX_DEPTH } from './scanner.ts'
import type { HclBody, HclCall, HclEntry, HclFile, HclValue } from './tree.ts'

const COMPUTED: HclValue = { kind: 'computed' }
/** A word that is a value, unlike the name of one. */
const LITERAL = /^(?:true|false|null|\d.*)$/

/** Placeholders in a string for `${path.module}`, and for `${path.root}` and `${path.cwd}`. */
export const MODULE_PATH = '\0module\0'
export const ROOT_PATH = '\0root\0'

/**
 * Parses a native-syntax file. Never throws: what is not understood is skipped and reported in `faults`.
 * @param options.recovers true to read broken text for people: an unclosed string ends with its line, and a top-level
 * header in the first column begins a new block. Otherwise the text is read exactly as by the engine.
 */
export function parseHcl(text: string, options: { maxTokens: number; recovers?: boolean }): HclFile {
  const { maxTokens, recovers = false } = options
  const parser = new HclParser(new HclScanner(text, { recovers }), maxTokens, recovers ? text : null)
  const body = parser.readFile()
  return { body, ...parser.outcome() }
}

/** Parses a string of the JSON form, which may hold templates like a quoted string. */
export function parseTemplate(
  text: string,
  line: number,
  maxTokens: number,
): { value: HclValue } & Omit<HclFile, 'body'> {
  const parser = new HclParser(new HclScanner(text, { form: 'bare', line }), maxTokens, null)
  const value = parser.readString('eof')
  return { value, ...parser.outcome() }
}

/** Tokens that end a value outside of brackets. */
type Stops = 'line' | 'comma' | 'key' | 'item'

const TOP_LEVEL = new Set(
  'check data ephemeral import locals module moved output provider removed resource terraform variable'.split(' '),
)

class HclParser {
  readonly #calls: HclCall[] = []
  readonly #scanner: HclScanner
  readonly #maxTokens: number
  /** The text if the parser recovers at top-level headers, else null. */
  readonly #recoverable: string | null
  #peeked: HclToken | null = null
  /** End of the last token that is not a line break. */
  #end = 0
  #depth = 0
  #broken = false

  constructor(scanner: HclScanner, maxTokens: number, recoverable: string | null) {
    this.#scanner = scanner
    this.#maxTokens = maxTokens
    this.#recoverable = recoverable
  }

  outcome(): Omit<HclFile, 'body'> {
    const { complete, faults, count } = this.#scanner
    faults.sort((a, b) => a.line - b.line)
    return { calls: this.#calls, complete: complete && !this.#broken, faults, tokens: count }
  }

  readFile(): HclBody {
    const body: HclBody = { attributes: [], blocks: [] }
    while (this.#peek().kind !== 'eof') {
      this.#readStatements(body)
      const token = this.#peek()
      if (token.kind === 'eof') break
      this.#unexpected(token)
      this.#take()
    }
    return body
  }

  #peek(): HclToken {
    if (this.#peeked === null) {
      const token = this.#scanner.next()
      if (this.#scanner.count > this.#maxTokens) this.#broken = true
      this.#peeked = this.#scanner.count > this.#maxTokens ? { ...token, kind: 'eof' } : token
    }
    return this.#peeked
  }

  #take(): HclToken {
    const token = this.#peek()
    if (token.kind !== 'eof') this.#peeked = null
    if (token.kind !== 'eof' && token.kind !== 'newline') this.#end = token.end
    return token
  }

  #isSymbol(...texts: string[]): boolean {
    const token = this.#peek()
    return token.kind === 'symbol' && texts.includes(token.text)
  }

  #unexpected({ text, line }: HclToken): void {
    this.#scanner.fault(line, `'${text}' where an argument or a block should begin`)
  }

  /** Reports whether nesting is at its limit; the rest is skipped and the text is incomplete. */
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

  /** Reports whether a position ends all open blocks, lists and objects. */
  #isCut(): boolean {
    const { kind, text, start } = this.#peek()
    if (kind === 'eof' || kind === 'end' || kind === 'close') return true
    if (this.#recoverable === null || this.#depth === 0 || kind !== 'identifier') return false
    return (start === 0 || this.#recoverable[start - 1] === '\n') && TOP_LEVEL.has(text)
  }

  /** Reads attributes and blocks up to a closing brace or the end. */
  #readStatements(body: HclBody): void {
    for (;;) {
      const token = this.#peek()
      if (this.#isCut() || this.#isSymbol('}')) return
      if (token.kind === 'newline') this.#take()
      else if (token.kind === 'identifier' || token.kind === 'open') this.#readStatement(body)
      else {
        this.#unexpected(token)
        if (this.#isEnd('line')) this.#take()
        else this.#readRest('line')
      }
    }
  }

  #readStatement(body: HclBody): void {
    const first = this.#peek()
    const header = this.#readHeader()
    const [type = ''] = header
    if (this.#isSymbol('=')) {
      if (header.length > 1 || first.kind === 'open') this.#notStatement(type, first)
      this.#take()
      this.#readAttribute(body, header.at(-1) ?? '', first)
    } else if (this.#isSymbol('{')) this.#readBlock(body, header, first)
    else {
      this.#notStatement(type, first)
      this.#readRest('line')
    }
  }

  #readHeader(): string[] {
    const header: string[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'identifier') header.push(this.#take().text)
      else if (token.kind === 'open') {
        this.#take()
        const label = this.readString('close')
        header.push(label.kind === 'string' && label.whole ? label.value : '')
      } else return header
    }
  }

  #notStatement(name: string, { line }: HclToken): void {
    this.#scanner.fault(line, `'${name}' is neither an argument nor a block`)
  }

  #readAttribute(body: HclBody, name: string, { line, start }: HclToken): void {
    const next = this.#peek()
    if (this.#isEnd('line')) this.#scanner.fault(line, `'${name}' has no value`)
    const valueStart = this.#isEnd('line') ? this.#end : next.start
    const value = this.#readValue('line')
    body.attributes.push({ name, line, start, end: this.#end, value, valueStart })
    if (this.#isSymbol(')', ']', ',')) this.#closesNothing()
  }

  #readBlock(parent: HclBody, [type = '', ...labels]: string[], { line, start }: HclToken): void {
    const bodyStart = this.#take().end
    const body: HclBody = { attributes: [], blocks: [] }
    this.#nested(() => this.#readStatements(body), undefined)
    const isClosed = this.#isSymbol('}')
    const bodyEnd = this.#peek().start
    if (isClosed) this.#take()
    else this.#scanner.fault(line, 'a block is not closed')
    const end = isClosed ? this.#end : bodyEnd
    parent.blocks.push({ type, labels, line, start, end, bodyStart, bodyEnd, body })
  }

  #isEnd(stops: Stops): boolean {
    if (this.#isCut()) return true
    const { kind, text } = this.#peek()
    if (kind === 'newline') return stops !== 'comma'
    if (kind !== 'symbol') return false
    if (text === '}' || text === ']' || text === ')') return true
    return (text === ',' && stops !== 'line') || (stops === 'key' && (text === '=' || text === ':'))
  }

  #skipNewlines(): void {
    while (this.#peek().kind === 'newline') this.#take()
  }

  /** Reads one value; one that is more than a literal is computed. */
  #readValue(stops: Stops): HclValue {
    if (stops === 'comma') this.#skipNewlines()
    if (this.#isEnd(stops)) return COMPUTED
    const value = this.#readPrimary()
    if (stops === 'comma') this.#skipNewlines()
    if (this.#isEnd(stops)) return value
    this.#readRest(stops)
    return COMPUTED
  }

  /** Reads the rest of a value, for its calls. */
  #readRest(stops: Stops): void {
    while (!this.#isEnd(stops)) this.#readPrimary()
  }

  #readPrimary(): HclValue {
    const token = this.#take()
    if (token.kind === 'open') return this.readString('close')
    if (token.kind === 'identifier') return this.#readName(token)
    if (token.kind !== 'symbol' && token.kind !== 'number') return COMPUTED
    if (token.text === '{') return this.#nested(() => this.#readObject(token), COMPUTED)
    if (token.text === '[') return this.#nested(() => this.#readList(token, ']'), COMPUTED)
    if (token.text === '(') {
      const list = this.#nested(() => this.#readList(token, ')'), COMPUTED)
      const [only, ...more] = list.kind === 'array' ? list.items : []
      return only && more.length === 0 && (only.kind !== 'word' || LITERAL.test(only.word)) ? only : COMPUTED
    }
    return { kind: 'word', word: token.text }
  }

  #readName(token: HclToken): HclValue {
    if (this.#isSymbol('(')) {
      const open = this.#take()
      const list = this.#nested(() => this.#readList(open, ')'), COMPUTED)
      this.#calls.push({
        name: token.text,
        line: token.line,
        args: list.kind === 'array' ? list.items.slice(0, 2) : [],
      })
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

  /** Skips to the next item of a list or object; `end` where it ends. */
  #nextItem(opened: HclToken, close: string): 'item' | 'end' {
    for (;;) {
      this.#skipNewlines()
      if (this.#isCut()) {
        this.#scanner.fault(opened.line, `'${opened.text}' is not closed`)
        return 'end'
      }
      if (this.#isSymbol('}', ']', ')')) {
        if (!this.#isSymbol(close)) {
          this.#broken = true
          this.#closesNothing()
        }
        this.#take()
        return 'end'
      }
      if (!this.#isSymbol(',')) return 'item'
      this.#take()
    }
  }

  #closesNothing(): void {
    const { text, line } = this.#peek()
    this.#scanner.fault(line, `'${text}' closes nothing`)
  }

  #readList(opened: HclToken, close: string): HclValue {
    const items: HclValue[] = []
    let computed = false
    while (this.#nextItem(opened, close) === 'item') {
      const { kind, text } = this.#peek()
      if (kind === 'identifier' && text === 'for') computed = true
      items.push(this.#readValue('comma'))
    }
    return computed ? COMPUTED : { kind: 'array', items }
  }

  #readObject(opened: HclToken): HclValue {
    const entries: HclEntry[] = []
    let computed = false
    while (this.#nextItem(opened, '}') === 'item') {
      const { line } = this.#peek()
      const key = this.#readValue('key')
      if (!this.#isSymbol('=', ':')) {
        // A `for` expression, or no object at all.
        computed = true
        this.#readRest('comma')
        continue
      }
      this.#take()
      this.#skipNewlines()
      entries.push({ key: keyOf(key), line, value: this.#readValue('item') })
    }
    if (computed) entries.push({ key: null, line: 0, value: COMPUTED })
    return { kind: 'object', entries }
  }

  /** Reads the pieces of a string up to its end, merging templates that are one literal. */
  readString(end: 'close' | 'eof'): HclValue {
    const pieces: string[] = []
    let whole = true
    let only: HclValue | null = null
    let count = 0
    for (;;) {
      const token = this.#take()
      if (token.kind === end) break
      if (token.kind === 'eof') {
        whole = false
        break
      }
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
    // A string of one template has the template's value, whatever its type.
    if (count === 1 && only !== null && only.kind !== 'word') return only
    return { kind: 'string', value: pieces.join(''), whole }
  }

  #readTemplate(introducer: string): HclValue {
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

const keyOf = (value: HclValue): string | null => {
  if (value.kind === 'word') return value.word
  return value.kind === 'string' && value.whole ? value.value : null
}
