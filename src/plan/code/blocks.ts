/** A block at the top level of a file in the engine's language. */
export interface CodeBlock {
  /** For example `resource`, `module`, `moved`. */
  kind: string
  labels: string[]
  /** The text between the braces. */
  body: string
}

type Kind = 'string' | 'comment' | 'blank' | 'newline' | 'open' | 'close' | 'other'
interface Token {
  kind: Kind
  /** Place behind the token. */
  end: number
}

const BLANK = /[^\S\n]+/y
const WORD = /[^\s"#/<{}()[\]]+/y
const COMMENT = /#.*|\/\/.*|\/\*[\s\S]*?(?:\*\/|$)/y
const HEREDOC = /<<-?([A-Za-z_][\w-]*)[^\S\n]*\n/y
/** No block has more than two labels; a text of many words is not tried in all its parts. */
const HEADER = /([A-Za-z_][\w-]*)((?:[ \t]+(?:"(?:\\.|[^"\\\n])*"|[A-Za-z_][\w-]*)){0,2})[ \t]*\{/y
const ATTRIBUTE = /"?([A-Za-z_][\w-]*)"?[ \t]*=(?![=>])[ \t]*/y
/** Anybody may have written the code: templates in templates are followed only so deep. */
const MAX_NESTING = 40

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * Reads the blocks at the top level of a file. Braces in strings, templates, comments and heredocs do not count. A
 * block that is never closed reaches to the end of the text.
 */
export function readCodeBlocks(code: string): CodeBlock[] {
  const text = code.replaceAll('\r\n', '\n')
  const blocks: CodeBlock[] = []
  for (let at = 0; at < text.length; ) {
    const header = matchAt(HEADER, text, at)
    if (header) {
      const start = at + header[0].length
      const end = findClose(text, start)
      const labels = [...(header[2] ?? '').matchAll(/"((?:\\.|[^"\\])*)"|([A-Za-z_][\w-]*)/g)]
      blocks.push({
        kind: header[1] ?? '',
        labels: labels.map(([, quoted, plain]) => quoted ?? plain ?? ''),
        body: text.slice(start, end),
      })
      at = end + 1
    } else at = tokenAt(text, at).end
  }
  return blocks
}

/** Reads the attributes of a body, not those of blocks inside of it, each with its expression without comments. */
export function readAttributes(body: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (let at = 0; at < body.length; ) {
    const attribute = matchAt(ATTRIBUTE, body, at)
    if (attribute) {
      const start = at + attribute[0].length
      at = endOfExpression(body, start)
      attributes.set(attribute[1] ?? '', withoutComments(body.slice(start, at)))
    } else if (body[at] === '{') at = findClose(body, at + 1) + 1
    else at = tokenAt(body, at).end
  }
  return attributes
}

/** The code without comments, and with one blank in place of several, so that only what matters is compared. */
export function withoutComments(code: string): string {
  const parts: string[] = []
  for (let at = 0; at < code.length; ) {
    const { kind, end } = tokenAt(code, at)
    if (kind === 'string' || kind === 'open' || kind === 'close' || kind === 'other') parts.push(code.slice(at, end))
    else if (parts.at(-1) !== ' ') parts.push(' ')
    at = end
  }
  return parts.join('').trim()
}

/** Place of the brace that closes the block whose text begins at `at`. */
function findClose(text: string, at: number): number {
  let depth = 1
  for (let place = at; place < text.length; ) {
    const { kind, end } = tokenAt(text, place)
    if (kind === 'open') depth++
    if (kind === 'close' && --depth === 0) return place
    place = end
  }
  return text.length
}

/** An expression ends with its line, unless a bracket is open. */
function endOfExpression(text: string, at: number): number {
  let depth = 0
  for (let place = at; place < text.length; ) {
    const { kind, end } = tokenAt(text, place)
    if (kind === 'open') depth++
    if (kind === 'close') depth--
    if (depth < 0 || (kind === 'newline' && depth === 0)) return place
    place = end
  }
  return text.length
}

function tokenAt(text: string, at: number): Token {
  const char = text[at] ?? ''
  if (char === '\n') return { kind: 'newline', end: at + 1 }
  if (char === '"') return { kind: 'string', end: endOfString(text, at + 1, 0) }
  if ('{(['.includes(char)) return { kind: 'open', end: at + 1 }
  if ('})]'.includes(char)) return { kind: 'close', end: at + 1 }
  if (char === '#' || char === '/') {
    const comment = matchAt(COMMENT, text, at)
    if (comment) return { kind: 'comment', end: at + comment[0].length }
  }
  if (char === '<') {
    const heredoc = matchAt(HEREDOC, text, at)
    if (heredoc) return { kind: 'string', end: endOfHeredoc(text, at + heredoc[0].length, heredoc[1] ?? '') }
  }
  const blank = matchAt(BLANK, text, at)
  if (blank) return { kind: 'blank', end: at + blank[0].length }
  return { kind: 'other', end: at + (matchAt(WORD, text, at)?.[0].length ?? 1) }
}

/** The heredoc ends with its mark on a line of its own, whose line break does not belong to it. */
function endOfHeredoc(text: string, start: number, mark: string): number {
  const last = new RegExp(`^[ \\t]*${mark}[ \\t]*$`, 'gm')
  last.lastIndex = start
  const match = last.exec(text)
  return match ? match.index + match[0].length : text.length
}

/** @param at place behind the opening quote */
function endOfString(text: string, at: number, nesting: number): number {
  for (let place = at; place < text.length; ) {
    const char = text[place]
    if (char === '\\') place += 2
    else if (char === '"') return place + 1
    else if (char === '\n') return place
    else if ((char === '$' || char === '%') && text[place + 1] === '{' && text[place - 1] !== char)
      place = endOfTemplate(text, place + 2, nesting + 1)
    else place++
  }
  return text.length
}

function endOfTemplate(text: string, at: number, nesting: number): number {
  if (nesting > MAX_NESTING) return text.length
  let depth = 1
  for (let place = at; place < text.length; ) {
    const char = text[place]
    if (char === '"') place = endOfString(text, place + 1, nesting)
    else {
      if (char === '{') depth++
      if (char === '}' && --depth === 0) return place + 1
      place++
    }
  }
  return text.length
}
