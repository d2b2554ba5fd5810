/**
 * One token of a file. Strings, heredocs and templates come in pieces, because the expressions that they hold are code
 * as well: `open`, then `literal` pieces and `template` … `end`, then `close`. A literal is decoded.
 */
export interface HclToken {
  kind: 'identifier' | 'symbol' | 'newline' | 'open' | 'literal' | 'close' | 'template' | 'end' | 'eof'
  text: string
  line: number
}

type Mode =
  | { kind: 'code'; braces: number }
  | { kind: 'quoted' }
  | { kind: 'heredoc'; marker: string; lineStart: boolean }
  | { kind: 'bare' }

const IDENTIFIER = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const HEREDOC = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy
const NUMBER = /[0-9][0-9.eE]*/y
const QUOTED_RUN = /[^"\\$%]+/y
const QUOTED_ESCAPE = /\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|[^\r\n])?/iy
const HEREDOC_RUN = /[^$%\n]+/y
const BARE_RUN = /[^$%]+/y
const ESCAPE = /\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gis
/** Deeper than any configuration that is written by people or programs. */
export const MAX_DEPTH = 200

/**
 * Splits a text of the configuration language into tokens, as the engine's own scanner does, in time that is linear in
 * its length. `complete` tells after the last token whether the text ended where its braces and strings say.
 */
export class HclScanner {
  readonly #text: string
  readonly #modes: Mode[]
  readonly #waiting: HclToken[] = []
  #at = 0
  #line: number
  #nextNewline: number
  #broken = false
  count = 0

  /** @param form `bare` for the text of a template without quotes, as strings of the JSON form are */
  constructor(text: string, form: 'file' | 'bare' = 'file', line = 1) {
    this.#text = text.replace(/^\uFEFF/, '')
    this.#modes = [form === 'bare' ? { kind: 'bare' } : { kind: 'code', braces: 0 }]
    this.#line = line
    this.#nextNewline = this.#text.indexOf('\n')
  }

  get complete(): boolean {
    const [bottom] = this.#modes
    return !this.#broken && this.#modes.length === 1 && (bottom?.kind !== 'code' || bottom.braces === 0)
  }

  next(): HclToken {
    for (;;) {
      const token = this.#waiting.shift()
      if (token) {
        this.count++
        return token
      }
      if (this.#at >= this.#text.length || this.#modes.length > MAX_DEPTH) {
        if (this.#modes.length > MAX_DEPTH) this.#broken = true
        return { kind: 'eof', text: '', line: this.#line }
      }
      this.#step(this.#modes.at(-1) as Mode)
    }
  }

  #step(mode: Mode): void {
    if (mode.kind === 'code') this.#scanCode(mode)
    else if (mode.kind === 'quoted') this.#scanQuoted()
    else if (mode.kind === 'heredoc') this.#scanHeredoc(mode)
    else this.#scanRun(BARE_RUN, false)
  }

  #emit(kind: HclToken['kind'], text = ''): void {
    this.#waiting.push({ kind, text, line: this.#line })
  }

  /** Moves on to this position and counts the lines on the way. */
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

  #skipTo(needle: string, include: boolean): void {
    const index = this.#text.indexOf(needle, this.#at)
    if (index === -1 && include) this.#broken = true
    this.#advance(index === -1 ? this.#text.length : index + (include ? needle.length : 0))
  }

  #scanCode(mode: { braces: number }): void {
    const char = this.#text[this.#at] as string
    const heredoc = char === '<' ? this.#match(HEREDOC) : null
    const word = this.#match(IDENTIFIER)
    const found = (word ?? this.#match(NUMBER))?.[0]
    if (char === '#' || this.#text.startsWith('//', this.#at)) this.#skipTo('\n', false)
    else if (this.#text.startsWith('/*', this.#at)) {
      this.#at += 2
      this.#skipTo('*/', true)
    } else if (char === '"') {
      this.#emit('open')
      this.#at++
      this.#modes.push({ kind: 'quoted' })
    } else if (heredoc) {
      this.#emit('open', 'heredoc')
      this.#advance(this.#at + heredoc[0].length)
      this.#modes.push({ kind: 'heredoc', marker: heredoc[1] as string, lineStart: true })
    } else if (found === undefined) this.#scanSymbol(char, mode)
    else {
      this.#emit(word ? 'identifier' : 'symbol', found)
      this.#at += found.length
    }
  }

  #scanSymbol(char: string, mode: { braces: number }): void {
    if (char === '}' && mode.braces === 0 && this.#modes.length > 1) {
      this.#emit('end')
      this.#modes.pop()
    } else {
      if (char === '{') mode.braces++
      if (char === '}') mode.braces--
      if (mode.braces < 0) this.#broken = true
      if (char === '\n') this.#emit('newline', char)
      else if (char !== ' ' && char !== '\t' && char !== '\r') this.#emit('symbol', char)
    }
    this.#advance(this.#at + 1)
  }

  /** Reads `$` or `%` in literal text: an escaped introducer such as `$${`, the beginning of a template, or itself. */
  #scanIntroducer(char: string): void {
    if (this.#text.startsWith(`${char}${char}{`, this.#at)) {
      this.#emit('literal', `${char}{`)
      this.#at += 3
    } else if (this.#text[this.#at + 1] === '{') {
      this.#emit('template', char)
      this.#at += 2
      this.#modes.push({ kind: 'code', braces: 0 })
    } else {
      this.#emit('literal', char)
      this.#at++
    }
  }

  #scanQuoted(): void {
    if (this.#text[this.#at] === '"') {
      this.#emit('close')
      this.#modes.pop()
      this.#at++
    } else this.#scanRun(QUOTED_RUN, true)
  }

  #scanRun(pattern: RegExp, escapes: boolean): void {
    const char = this.#text[this.#at] as string
    if (char === '$' || char === '%') {
      this.#scanIntroducer(char)
      return
    }
    const run = this.#match(escapes && char === '\\' ? QUOTED_ESCAPE : pattern)?.[0] ?? char
    this.#emit('literal', escapes ? decodeEscapes(run) : run)
    this.#advance(this.#at + run.length)
  }

  #scanHeredoc(mode: { marker: string; lineStart: boolean }): void {
    if (mode.lineStart) {
      const end = this.#nextNewline
      if (end !== -1 && this.#isMarker(mode.marker, end)) {
        this.#at = end
        this.#emit('close')
        this.#modes.pop()
        return
      }
      mode.lineStart = false
    }
    if (this.#text[this.#at] === '\n') {
      mode.lineStart = true
      this.#emit('literal', '\n')
      this.#advance(this.#at + 1)
    } else this.#scanRun(HEREDOC_RUN, false)
  }

  /** Whether the line up to `end` holds the marker alone, between spaces of any kind. */
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

const NAMED: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

function decodeEscapes(literal: string): string {
  if (!literal.includes('\\')) return literal
  return literal.replace(ESCAPE, (whole, short?: string, long?: string, named?: string) => {
    const code = short ?? long
    if (code === undefined) return named === undefined ? whole : (NAMED[named] ?? named)
    const point = Number.parseInt(code, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
