/**
 * A token. Strings, heredocs and templates come in pieces, because they contain expressions: `open`, then `literal`
 * pieces and `template` … `end`, then `close`. Literals are decoded.
 */
export interface HclToken {
  kind: 'identifier' | 'number' | 'symbol' | 'newline' | 'open' | 'literal' | 'close' | 'template' | 'end' | 'eof'
  text: string
  /** Line, from 1. */
  line: number
  /** Offsets in the text. */
  start: number
  end: number
}

/** A syntax error. */
export interface HclFault {
  line: number
  message: string
}

type Mode =
  | { kind: 'code'; braces: number; line: number }
  | { kind: 'quoted'; line: number }
  | { kind: 'heredoc'; marker: string; lineStart: boolean; line: number }
  | { kind: 'bare'; line: number }

const NAME = String.raw`[\p{ID_Start}_][\p{ID_Continue}\-]*`
const IDENTIFIER = new RegExp(NAME, 'uy')
const HEREDOC = new RegExp(`<<-?(${NAME})\\r?\\n`, 'uy')
const NUMBER = /[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?/y
const QUOTED_RUN = /[^"\\$%\n]+/y
const QUOTED_ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^\r\n])?/y
const HEREDOC_RUN = /[^$%\n]+/y
const BARE_RUN = /[^$%]+/y
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs
/** Deeper than any real configuration. */
export const MAX_DEPTH = 200
const MAX_FAULTS = 100

/**
 * Splits configuration text into tokens as the engine's scanner does, in linear time. `complete` is valid after the
 * last token: true if every brace, string and comment was closed.
 */
export class HclScanner {
  readonly faults: HclFault[] = []
  readonly #text: string
  readonly #modes: Mode[]
  readonly #recovers: boolean
  readonly #queue: HclToken[] = []
  #at: number
  #line: number
  #nextNewline: number
  #broken = false
  count = 0

  /**
   * @param options.form `bare` for template text without quotes, such as a string of the JSON form
   * @param options.recovers true to end an unclosed string with its line, where the engine reads on
   */
  constructor(text: string, options: { form?: 'file' | 'bare'; line?: number; recovers?: boolean } = {}) {
    const { form = 'file', line = 1, recovers = false } = options
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
    this.#modes = [form === 'bare' ? { kind: 'bare', line } : { kind: 'code', braces: 0, line }]
    this.#recovers = recovers
    this.#line = line
    this.#nextNewline = text.indexOf('\n')
  }

  get complete(): boolean {
    const [bottom] = this.#modes
    return !this.#broken && this.#modes.length === 1 && (bottom?.kind !== 'code' || bottom.braces === 0)
  }

  next(): HclToken {
    for (;;) {
      const token = this.#queue.shift()
      if (token) {
        this.count++
        return token
      }
      const mode = this.#modes.at(-1) as Mode
      if (this.#at >= this.#text.length || this.#modes.length > MAX_DEPTH) return this.#finish(mode)
      this.#step(mode)
    }
  }

  fault(line: number, message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ line, message })
  }

  #finish(mode: Mode): HclToken {
    if (this.#modes.length > MAX_DEPTH) this.#broken = true
    if (mode.kind === 'quoted') this.fault(mode.line, 'a text in quotes is not closed')
    if (mode.kind === 'heredoc') this.fault(mode.line, `the heredoc ${mode.marker} is not closed`)
    return { kind: 'eof', text: '', line: this.#line, start: this.#text.length, end: this.#text.length }
  }

  #step(mode: Mode): void {
    if (mode.kind === 'code') this.#scanCode(mode)
    else if (mode.kind === 'quoted') this.#scanQuoted(mode)
    else if (mode.kind === 'heredoc') this.#scanHeredoc(mode)
    else this.#scanRun(BARE_RUN, false)
  }

  /** Adds a token that begins here, and advances past it. */
  #emit(kind: HclToken['kind'], length: number, text = ''): void {
    this.#queue.push({ kind, text, line: this.#line, start: this.#at, end: this.#at + length })
    this.#advance(this.#at + length)
  }

  /** Advances to a position, counting lines. */
  #advance(to: number): void {
    while (this.#nextNewline !== -1 && this.#nextNewline < to) {
      this.#line++
      this.#nextNewline = this.#text.indexOf('\n', this.#nextNewline + 1)
    }
    this.#at = to
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #scanCode(mode: Mode & { kind: 'code' }): void {
    const char = this.#text[this.#at] as string
    const heredoc = char === '<' ? this.#match(HEREDOC) : null
    const word = this.#match(IDENTIFIER)
    const number = word ? null : this.#match(NUMBER)
    if (char === '#' || this.#text.startsWith('//', this.#at))
      this.#advance(this.#nextNewline === -1 ? this.#text.length : this.#nextNewline)
    else if (this.#text.startsWith('/*', this.#at)) this.#skipComment()
    else if (char === '"') {
      this.#modes.push({ kind: 'quoted', line: this.#line })
      this.#emit('open', 1)
    } else if (heredoc) {
      this.#modes.push({ kind: 'heredoc', marker: heredoc[1] as string, lineStart: true, line: this.#line })
      this.#emit('open', heredoc[0].length, 'heredoc')
    } else if (word) this.#emit('identifier', word[0].length, word[0])
    else if (number) this.#emit('number', number[0].length, number[0])
    else this.#scanSymbol(char, mode)
  }

  #skipComment(): void {
    const end = this.#text.indexOf('*/', this.#at + 2)
    if (end === -1) {
      this.#broken = true
      this.fault(this.#line, 'a comment is not closed')
    }
    this.#advance(end === -1 ? this.#text.length : end + 2)
  }

  #scanSymbol(char: string, mode: Mode & { kind: 'code' }): void {
    if (char === ' ' || char === '\t' || char === '\r') this.#advance(this.#at + 1)
    else if (char === '}' && mode.braces === 0 && this.#modes.length > 1) {
      this.#modes.pop()
      this.#emit('end', 1)
    } else {
      if (char === '{') mode.braces++
      if (char === '}') mode.braces--
      if (mode.braces < 0) this.#broken = true
      this.#emit(char === '\n' ? 'newline' : 'symbol', 1, char)
    }
  }

  /** Reads `$` or `%` in literal text: an escape such as `$${`, the start of a template, or itself. */
  #scanIntroducer(char: string): void {
    if (this.#text.startsWith(`${char}${char}{`, this.#at)) this.#emit('literal', 3, `${char}{`)
    else if (this.#text[this.#at + 1] === '{') {
      this.#modes.push({ kind: 'code', braces: 0, line: this.#line })
      this.#emit('template', 2, char)
    } else this.#emit('literal', 1, char)
  }

  #scanQuoted(mode: Mode): void {
    const char = this.#text[this.#at]
    if (char === '\n') this.fault(mode.line, 'a text in quotes is not closed')
    if (char === '"' || (char === '\n' && this.#recovers)) {
      this.#modes.pop()
      this.#emit('close', char === '"' ? 1 : 0)
    } else if (char === '\n') this.#emit('literal', 1, char)
    else this.#scanRun(QUOTED_RUN, true)
  }

  #scanRun(pattern: RegExp, escapes: boolean): void {
    const char = this.#text[this.#at] as string
    if (char === '$' || char === '%') {
      this.#scanIntroducer(char)
      return
    }
    const run = this.#match(escapes && char === '\\' ? QUOTED_ESCAPE : pattern)?.[0] ?? char
    this.#emit('literal', run.length, escapes ? decodeEscapes(run) : run)
  }

  #scanHeredoc(mode: Mode & { kind: 'heredoc' }): void {
    // The engine requires a line break after the marker, also at the end of the file.
    if (mode.lineStart && this.#nextNewline !== -1 && this.#isMarker(mode.marker, this.#nextNewline)) {
      this.#modes.pop()
      this.#emit('close', this.#nextNewline - this.#at)
      return
    }
    mode.lineStart = this.#text[this.#at] === '\n'
    if (mode.lineStart) this.#emit('literal', 1, '\n')
    else this.#scanRun(HEREDOC_RUN, false)
  }

  /** Reports whether the line up to `end` is the marker alone, between any kind of spaces. */
  #isMarker(marker: string, end: number): boolean {
    let from = this.#at
    let to = end
    while (from < to && isSpace(this.#text[from] as string)) from++
    while (to > from && isSpace(this.#text[to - 1] as string)) to--
    return to - from === marker.length && this.#text.startsWith(marker, from)
  }
}

const SPACE = /^\p{White_Space}$/u
const isSpace = (char: string): boolean => SPACE.test(char)

const NAMED: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }

/** Decodes escapes; one that the engine refuses stays as it is written. */
function decodeEscapes(literal: string): string {
  if (!literal.includes('\\')) return literal
  return literal.replace(ESCAPE, (whole, short?: string, long?: string, named?: string) => {
    const code = short ?? long
    if (code === undefined) return NAMED[named ?? ''] ?? whole
    const point = Number.parseInt(code, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
