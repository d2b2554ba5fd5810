import { parseHcl } from './parser.ts'
import { HclScanner, type HclToken } from './scanner.ts'
import type { HclAttribute, HclBlock, HclBody, HclFile, HclValue } from './tree.ts'

/** Limit beyond all hand-written files; a file of 4 MiB has about this many tokens. */
export const MAX_TOKENS = 500_000

/** Reads a file for people, tolerating broken syntax, in linear time up to `MAX_TOKENS`. Never throws. */
export function readHcl(text: string): HclFile {
  const exact = parseHcl(text, { maxTokens: MAX_TOKENS })
  const isSound = exact.complete && exact.faults.length === 0
  return isSound ? exact : parseHcl(text, { maxTokens: MAX_TOKENS, recovers: true })
}

/** Writes code without comments and layout, for comparisons: single blanks divide its tokens, texts stay as they are. */
export function withoutLayout(code: string): string {
  const scanner = new HclScanner(code, { recovers: true })
  const parts: string[] = []
  let last: HclToken['kind'] | null = null
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next()) {
    if (token.kind === 'newline') continue
    if (last !== null && !ENDS_IN_TEXT.has(last) && !BEGINS_IN_TEXT.has(token.kind)) parts.push(' ')
    const written = code.slice(token.start, token.end)
    // The mark of a heredoc may be indented.
    parts.push(token.kind === 'close' ? written.trim() : written)
    last = token.kind
  }
  return parts.join('')
}

const ENDS_IN_TEXT: ReadonlySet<HclToken['kind']> = new Set(['open', 'literal', 'end'])
const BEGINS_IN_TEXT: ReadonlySet<HclToken['kind']> = new Set(['literal', 'close'])

/**
 * Returns the names of each traversal in code: `a`, `b`, `c` for `a.b[0].c`; none for comments and literal texts.
 * @param form `bare` for template text without quotes, such as a string of the JSON form
 */
export function traversalsIn(code: string, form: 'file' | 'bare' = 'file'): string[][] {
  const scanner = new HclScanner(code, { form, recovers: true })
  const traversals: string[][] = []
  let isMember = false
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next()) {
    if (token.kind === 'identifier' && isMember) traversals.at(-1)?.push(token.text)
    else if (token.kind === 'identifier') traversals.push([token.text])
    isMember = token.kind === 'symbol' && token.text === '.'
  }
  return traversals.filter(({ length }) => length > 1)
}

/**
 * Returns the address that an expression is, such as `module.a["k"].b.c`, without indexes that only the engine can
 * compute; null for any other expression.
 */
export function addressIn(expression: string): string | null {
  const scanner = new HclScanner(expression)
  const tokens: HclToken[] = []
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next())
    if (token.kind !== 'newline') tokens.push(token)
  const written = (from: number, to: number) => expression.slice(tokens[from]?.start, tokens[to]?.end)
  const closing = (from: number) => {
    let depth = 0
    for (let at = from; at < tokens.length; at++) {
      const { kind, text } = tokens[at] as HclToken
      if (kind === 'symbol' && text === '[') depth++
      if (kind === 'symbol' && text === ']' && --depth === 0) return at
    }
    return -1
  }
  let address = ''
  for (let at = 0; at < tokens.length; ) {
    const { kind, text } = tokens[at] as HclToken
    if (kind === 'identifier' && address === '') {
      address = text
      at++
    } else if (text === '.' && tokens[at + 1]?.kind === 'identifier') {
      address += `.${tokens[at + 1]?.text}`
      at += 2
    } else if (text === '[' && address !== '' && closing(at) > 0) {
      const end = closing(at)
      const inside = tokens.slice(at + 1, end)
      const isConstant = inside.length === 1 ? inside[0]?.kind === 'number' : inside.every(({ kind }) => TEXT.has(kind))
      if (isConstant && inside.length > 0) address += `[${written(at + 1, end - 1)}]`
      at = end + 1
    } else return null
  }
  return address.includes('.') ? address : null
}

const TEXT: ReadonlySet<HclToken['kind']> = new Set(['open', 'literal', 'close'])

/** Yields every block of a body, at any depth. */
export function* blocksWithin(body: HclBody): Generator<HclBlock> {
  for (const block of body.blocks) {
    yield block
    yield* blocksWithin(block.body)
  }
}

export const attributeOf = (body: HclBody, name: string): HclAttribute | undefined =>
  body.attributes.find((attribute) => attribute.name === name)

/** Returns an attribute's literal text; null when it has none. */
export function textOf(body: HclBody, name: string): string | null {
  const value = attributeOf(body, name)?.value
  return value?.kind === 'string' && isWrittenOut(value) ? value.value : null
}

/** Reports whether a text has no templates, including `${path.module}`. */
export const isWrittenOut = ({ value, whole }: HclValue & { kind: 'string' }): boolean => whole && !value.includes('\0')
