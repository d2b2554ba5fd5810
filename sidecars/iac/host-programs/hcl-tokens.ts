/** What block headers are made of. The `text` of a string is decoded; it is null when the string holds a template. */
export interface HclToken {
  kind: 'identifier' | 'string' | 'newline' | 'symbol'
  text: string | null
  line: number
}

type Mode =
  | { kind: 'code'; braces: number }
  | { kind: 'quoted'; line: number; literal: string; template: boolean }
  | { kind: 'heredoc'; marker: string; lineStart: boolean }

const IDENTIFIER = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const HEREDOC = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy
const EDGES = /^\p{White_Space}+|\p{White_Space}+$/gu
const ESCAPE = /\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gis

/**
 * Splits a file of the configuration language into tokens as the engine's own scanner does. Comments, quoted templates
 * and heredocs yield no code, and the expressions nested in them do not either. `complete` is false when the file ends
 * inside of one or with open braces, which the engine does not accept.
 */
export function tokenizeHcl(source: string): { tokens: HclToken[]; complete: boolean } {
  const scanner = new HclScanner(source.replace(/^\uFEFF/, ''))
  return scanner.scan()
}

class HclScanner {
  readonly #text: string
  readonly #tokens: HclToken[] = []
  readonly #modes: Mode[] = [{ kind: 'code', braces: 0 }]
  #at = 0
  #line = 1
  #broken = false

  constructor(text: string) {
    this.#text = text
  }

  scan(): { tokens: HclToken[]; complete: boolean } {
    while (this.#at < this.#text.length) {
      const mode = this.#modes.at(-1) as Mode
      if (mode.kind === 'code') this.#scanCode(mode)
      else if (mode.kind === 'quoted') this.#scanQuoted(mode)
      else this.#scanHeredoc(mode)
    }
    const [bottom] = this.#modes
    const complete = !this.#broken && this.#modes.length === 1 && bottom?.kind === 'code' && bottom.braces === 0
    return { tokens: this.#tokens, complete }
  }

  #emit(kind: HclToken['kind'], text: string | null, line = this.#line): void {
    // A template holds expressions, which can contain no block.
    if (this.#modes.length === 1) this.#tokens.push({ kind, text, line })
  }

  /** Moves on to this position and counts the lines on the way. */
  #advance(to: number): void {
    for (let i = this.#text.indexOf('\n', this.#at); i !== -1 && i < to; i = this.#text.indexOf('\n', i + 1))
      this.#line++
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
    const identifier = this.#match(IDENTIFIER)
    if (char === '#' || this.#text.startsWith('//', this.#at)) this.#skipTo('\n', false)
    else if (this.#text.startsWith('/*', this.#at)) {
      this.#at += 2
      this.#skipTo('*/', true)
    } else if (char === '"') {
      this.#at++
      this.#modes.push({ kind: 'quoted', line: this.#line, literal: '', template: false })
    } else if (heredoc) {
      this.#advance(this.#at + heredoc[0].length)
      this.#modes.push({ kind: 'heredoc', marker: heredoc[1] as string, lineStart: true })
    } else if (identifier) {
      this.#emit('identifier', identifier[0])
      this.#at += identifier[0].length
    } else this.#scanSymbol(char, mode)
  }

  #scanSymbol(char: string, mode: { braces: number }): void {
    if (char === '}' && mode.braces === 0 && this.#modes.length > 1) this.#modes.pop()
    else {
      if (char === '{') mode.braces++
      if (char === '}') mode.braces--
      if (mode.braces < 0) this.#broken = true
      if (char === '\n') this.#emit('newline', char)
      else if (char !== ' ' && char !== '\t' && char !== '\r') this.#emit('symbol', char)
    }
    this.#advance(this.#at + 1)
  }

  /** Reads `$` or `%` in literal text: an escaped introducer such as `$${`, the beginning of a template, or itself. */
  #scanIntroducer(char: string): { literal: string; template: boolean } {
    if (this.#text.startsWith(`${char}${char}{`, this.#at)) {
      this.#at += 3
      return { literal: `${char}{`, template: false }
    }
    if (this.#text[this.#at + 1] === '{') {
      this.#at += 2
      this.#modes.push({ kind: 'code', braces: 0 })
      return { literal: '', template: true }
    }
    this.#at++
    return { literal: char, template: false }
  }

  #scanQuoted(mode: { line: number; literal: string; template: boolean }): void {
    const char = this.#text[this.#at] as string
    if (char === '"') {
      this.#modes.pop()
      this.#at++
      this.#emit('string', mode.template ? null : decodeEscapes(mode.literal), mode.line)
    } else if (char === '$' || char === '%') {
      const { literal, template } = this.#scanIntroducer(char)
      mode.literal += literal
      mode.template ||= template
    } else {
      const next = this.#text[this.#at + 1]
      const length = char === '\\' && next !== undefined && next !== '\n' && next !== '\r' ? 2 : 1
      mode.literal += this.#text.slice(this.#at, this.#at + length)
      this.#advance(this.#at + length)
    }
  }

  #scanHeredoc(mode: { marker: string; lineStart: boolean }): void {
    const char = this.#text[this.#at] as string
    if (mode.lineStart) {
      const end = this.#text.indexOf('\n', this.#at)
      if (end !== -1 && this.#text.slice(this.#at, end).replace(EDGES, '') === mode.marker) {
        this.#modes.pop()
        this.#at = end
        return
      }
      mode.lineStart = false
    }
    if (char === '$' || char === '%') {
      this.#scanIntroducer(char)
      return
    }
    if (char === '\n') mode.lineStart = true
    this.#advance(this.#at + 1)
  }
}

const NAMED: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

function decodeEscapes(literal: string): string {
  return literal.replace(ESCAPE, (whole, short?: string, long?: string, named?: string) => {
    const code = short ?? long
    if (code === undefined) return named === undefined ? whole : (NAMED[named] ?? named)
    const point = Number.parseInt(code, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
