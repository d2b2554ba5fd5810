/**
 * The structure of configuration code: which arguments and blocks stand where. Values of arguments are kept as text.
 */
export interface HclArgument {
  name: string
  value: string
  line: number
}
export interface HclBlock {
  type: string
  labels: string[]
  body: HclBody
  line: number
}
export interface HclBody {
  arguments: HclArgument[]
  blocks: HclBlock[]
}

/** The text is no configuration code. `line` is where the fault is; the first line is 1. */
export class HclError extends Error {
  readonly line: number
  constructor(message: string, line: number) {
    super(message)
    this.name = 'HclError'
    this.line = line
  }
}

interface Token {
  text: string
  kind: 'name' | 'text' | 'newline' | 'other'
  line: number
  at: number
}

const CLOSING: Record<string, string> = { '{': '}', '[': ']', '(': ')' }
const COMMENT = /(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//y
const NAME = /[A-Za-z_][A-Za-z0-9_-]*/y
const BLANK = /[^\S\n]+/y
const HEREDOC = /<<-?([A-Za-z_][A-Za-z0-9_]*)\n[\s\S]*?\n[^\S\n]*\1(?![A-Za-z0-9_])/y

/** Parses the arguments and blocks of a file. Errors: `HclError`. */
export function parseHcl(code: string): HclBody {
  return new Reader(code, tokensOf(code)).body(null)
}

/** Yields every block of a body, at any depth. */
export function* blocksWithin(body: HclBody): Generator<HclBlock> {
  for (const block of body.blocks) {
    yield block
    yield* blocksWithin(block.body)
  }
}

function tokensOf(code: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  let line = 1
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    return pattern.exec(code)?.[0] ?? null
  }
  while (at < code.length) {
    const start = at
    const skipped = take(BLANK) ?? take(COMMENT)
    const heredoc = skipped === null ? take(HEREDOC) : null
    const name = skipped === null ? take(NAME) : null
    const text = skipped ?? heredoc ?? name ?? (code[at] === '"' ? readQuoted(code, at, line) : (code[at] ?? ''))
    const kind =
      name !== null ? 'name' : heredoc !== null || text.startsWith('"') ? 'text' : text === '\n' ? 'newline' : 'other'
    if (skipped === null) tokens.push({ text, kind, line, at: start })
    at += text.length
    line += text.split('\n').length - 1
  }
  return tokens
}

/** Reads a quoted text together with the expressions in it. */
function readQuoted(code: string, start: number, line: number): string {
  let depth = 0
  for (let at = start + 1; at < code.length; at += 1) {
    const [here, next] = [code[at], code[at + 1]]
    if (here === '\\') at += 1
    else if (depth === 0 && (here === '$' || here === '%') && next === here) at += 1
    else if (depth === 0 && (here === '$' || here === '%') && next === '{') {
      depth = 1
      at += 1
    } else if (depth > 0 && here === '"') at += readQuoted(code, at, line).length - 1
    else if (depth > 0 && here === '{') depth += 1
    else if (depth > 0 && here === '}') depth -= 1
    else if (here === '"') return code.slice(start, at + 1)
    else if (here === '\n' && depth === 0) break
  }
  throw new HclError('a text in quotes is not closed', line)
}

class Reader {
  readonly #code: string
  readonly #tokens: Token[]
  #next = 0

  constructor(code: string, tokens: Token[]) {
    this.#code = code
    this.#tokens = tokens
  }

  /**
   * Reads a body.
   * @param opened where the block of this body begins; null for the whole file
   */
  body(opened: Token | null): HclBody {
    const body: HclBody = { arguments: [], blocks: [] }
    for (;;) {
      const token = this.#tokens[this.#next]
      if (token === undefined) {
        if (opened !== null) throw new HclError('a block is not closed', opened.line)
        return body
      }
      this.#next += 1
      if (token.kind === 'newline') continue
      if (token.text === '}' && opened !== null) return body
      if (token.kind !== 'name')
        throw new HclError(`'${token.text}' where an argument or a block should begin`, token.line)
      this.#item(token, body)
    }
  }

  #item(name: Token, body: HclBody): void {
    const labels: string[] = []
    for (;;) {
      const token = this.#tokens[this.#next]
      this.#next += 1
      if (token?.text === '=' && labels.length === 0)
        return void body.arguments.push({ name: name.text, value: this.#expression(name), line: name.line })
      if (token?.text === '{')
        return void body.blocks.push({ type: name.text, labels, body: this.body(token), line: name.line })
      if (token?.kind !== 'text' && token?.kind !== 'name')
        throw new HclError(`'${name.text}' is neither an argument nor a block`, name.line)
      labels.push(token.text.replace(/^"|"$/g, ''))
    }
  }

  /** Reads the text up to the end of the line on which all brackets are closed. */
  #expression(name: Token): string {
    const open: Token[] = []
    const start = this.#tokens[this.#next]
    let end = start?.at ?? this.#code.length
    for (;;) {
      const token = this.#tokens[this.#next]
      const last = open.at(-1)
      if (token === undefined || (last === undefined && (token.kind === 'newline' || token.text === '}'))) {
        if (last !== undefined) throw new HclError(`'${last.text}' is not closed`, last.line)
        if (start === undefined || end === start.at) throw new HclError(`'${name.text}' has no value`, name.line)
        return this.#code.slice(start.at, end)
      }
      this.#next += 1
      if (token.kind === 'other' && token.text in CLOSING) open.push(token)
      else if (/^[}\])]$/.test(token.text)) {
        if (last === undefined || CLOSING[last.text] !== token.text)
          throw new HclError(`'${token.text}' closes nothing`, token.line)
        open.pop()
      }
      end = token.at + token.text.length
    }
  }
}
