import { parseHcl } from './parser.ts'
import { HclScanner } from './scanner.ts'
import type { HclAttribute, HclBlock, HclBody, HclFile, HclValue } from './tree.ts'

/** Limit beyond all hand-written files; a file of 4 MiB has about this many tokens. */
export const MAX_TOKENS = 500_000

/** Reads a file for people, tolerating broken syntax, in linear time up to `MAX_TOKENS`. Never throws. */
export function readHcl(text: string): HclFile {
  const exact = parseHcl(text, { maxTokens: MAX_TOKENS })
  const isSound = exact.complete && exact.faults.length === 0
  return isSound ? exact : parseHcl(text, { maxTokens: MAX_TOKENS, recovers: true })
}

/** Reads a block header at the start of a line; null for other lines. */
export function readHeader(line: string): Pick<HclBlock, 'type' | 'labels'> | null {
  const [block] = /^[\p{ID_Start}_]/u.test(line) && line.includes('{') ? readHcl(line).body.blocks : []
  return block?.start === 0 ? { type: block.type, labels: block.labels } : null
}

/** Removes comments and replaces layout by single blanks, for comparisons. */
export function withoutLayout(code: string): string {
  const scanner = new HclScanner(code, { recovers: true })
  const parts: string[] = []
  let end = 0
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next()) {
    if (token.kind === 'newline') continue
    if (token.start > end && parts.length > 0) parts.push(' ')
    parts.push(code.slice(token.start, token.end))
    end = token.end
  }
  return parts.join('')
}

/** Returns the names of each traversal in code: `a`, `b`, `c` for `a.b[0].c`; none for comments and literal texts. */
export function traversalsIn(code: string): string[][] {
  const scanner = new HclScanner(code, { recovers: true })
  const traversals: string[][] = []
  let isMember = false
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next()) {
    if (token.kind === 'identifier' && isMember) traversals.at(-1)?.push(token.text)
    else if (token.kind === 'identifier') traversals.push([token.text])
    isMember = token.kind === 'symbol' && token.text === '.'
  }
  return traversals.filter(({ length }) => length > 1)
}

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
