import { parseHcl, parseTemplate } from '../../../src/hcl/parser.ts'
import { MAX_DEPTH } from '../../../src/hcl/scanner.ts'
import type { HclBody, HclCall } from '../../../src/hcl/tree.ts'

/**
 * Configuration as a tree, the same for both forms of the language: a block is an entry of its type, and each label an
 * entry below it. Duplicate keys stay, so that none can hide another.
 */
export type ConfigNode =
  | { kind: 'object'; entries: ConfigEntry[] }
  | { kind: 'array'; items: ConfigNode[] }
  /** `value` ends before the first template that only the engine can compute. */
  | { kind: 'string'; value: string; whole: boolean }
  /** A number, `true`, `false`, `null` or the name of a value. */
  | { kind: 'word'; word: string }
  /** A value that only the engine can compute. */
  | { kind: 'computed' }

export interface ConfigEntry {
  /** Null when only the engine can compute the key. */
  key: string | null
  line: number
  value: ConfigNode
  /** True if the entry is certainly a block. In JSON, blocks and objects look the same. */
  block?: boolean
}

export interface ConfigTree {
  root: ConfigNode
  calls: HclCall[]
  /** False if the text could not be parsed to its end. */
  complete: boolean
  /** Number of tokens read. */
  tokens: number
}

/** Thrown when a file has more tokens than any that people or programs write. */
export class TooManyTokens extends Error {}

/** Parses a file in the native form. Errors: `TooManyTokens`. */
export function parseHclTree(source: string, maxTokens: number): ConfigTree {
  const { body, calls, complete, tokens } = parseHcl(source, { maxTokens })
  if (tokens > maxTokens) throw new TooManyTokens()
  return { root: nodeOf(body), calls, complete, tokens }
}

function nodeOf(body: HclBody): ConfigNode {
  const attributes = body.attributes.map(({ name, line, start, value }) => ({ key: name, line, start, value }))
  const blocks = body.blocks.map(({ type, labels, line, start, body: inner }) => {
    const value = labels.reduceRight<ConfigNode>(
      (below, label) => ({ kind: 'object', entries: [{ key: label, line, value: below, block: true }] }),
      nodeOf(inner),
    )
    return { key: type, line, start, value, block: true }
  })
  const entries = [...attributes, ...blocks].sort((a, b) => a.start - b.start)
  return { kind: 'object', entries }
}

/** Returns the entries of an object, or of all objects of a list, which the engine reads as several blocks. */
export function entriesOf(node: ConfigNode): ConfigEntry[] {
  if (node.kind === 'object') return node.entries
  return node.kind === 'array' ? node.items.flatMap(entriesOf) : []
}

export const entriesNamed = (node: ConfigNode, key: string): ConfigEntry[] =>
  entriesOf(node).filter((entry) => entry.key === key)

/** Returns the bodies and labels of all blocks of a type. A type has a fixed number of labels, `resource` two. */
export function blocksOf(
  node: ConfigNode,
  type: string,
  labels: number,
): { labels: string[]; line: number; body: ConfigNode }[] {
  let level = entriesNamed(node, type).map(({ line, value }) => ({ labels: [] as string[], line, body: value }))
  for (let i = 0; i < labels; i++)
    level = level.flatMap(({ labels: before, body }) =>
      entriesOf(body).map(({ key, line, value }) => ({ labels: [...before, key ?? ''], line, body: value })),
    )
  return level
}

/** Returns the places of data sources and their like: the file itself, and its `check` blocks. */
export const scopesOf = (root: ConfigNode): ConfigNode[] => [
  root,
  ...blocksOf(root, 'check', 1).map(({ body }) => body),
]

/** Yields all entries below a node, at any depth. */
export function* descendantsOf(node: ConfigNode): Generator<ConfigEntry> {
  if (node.kind === 'array') for (const item of node.items) yield* descendantsOf(item)
  if (node.kind !== 'object') return
  for (const entry of node.entries) {
    yield entry
    yield* descendantsOf(entry.value)
  }
}

/** Yields all strings of a value, at any depth. */
export function* stringsOf(node: ConfigNode): Generator<{ value: string; whole: boolean }> {
  if (node.kind === 'string') yield node
  if (node.kind === 'array') for (const item of node.items) yield* stringsOf(item)
  if (node.kind === 'object') for (const { value } of node.entries) yield* stringsOf(value)
}

/** Reports whether a value is null, or an empty text, list or object. */
export const isUnset = (node: ConfigNode): boolean =>
  (node.kind === 'word' && node.word === 'null') ||
  (node.kind === 'string' && node.whole && node.value.trim() === '') ||
  (node.kind === 'array' && node.items.every(isUnset)) ||
  (node.kind === 'object' && node.entries.length === 0)

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORD = /[\w.+-]+/y
const SPACE = /[\s\uFEFF]*/y
const TEMPLATE = /[$%]\{/

/**
 * Parses JSON as the engine does; `root` is computed where that fails. Errors: `TooManyTokens`.
 * @param templates true if strings are expressions of the language; false for data such as a manifest
 */
export function parseJsonTree(text: string, maxTokens: number, templates = true): ConfigTree {
  const calls: HclCall[] = []
  let [tokens, at, line, counted, complete] = [0, 0, 1, 0, true]

  function take(pattern: RegExp): string {
    pattern.lastIndex = at
    const [match] = pattern.exec(text) ?? []
    if (match === undefined) throw new SyntaxError(`unexpected character at ${at}`)
    at += match.length
    return match
  }

  function peek(): string {
    take(SPACE)
    return text[at] ?? ''
  }

  function currentLine(): number {
    for (; counted < at; counted++) if (text[counted] === '\n') line++
    return line
  }

  function countTokens(more: number): void {
    tokens += more
    if (tokens > maxTokens) throw new TooManyTokens()
  }

  function readString(): ConfigNode {
    const start = currentLine()
    // A bare line feed is no valid JSON, but must not let the string escape the check.
    const literal = take(STRING).replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    const value: string = JSON.parse(literal)
    if (!templates || !TEMPLATE.test(value)) return { kind: 'string', value, whole: true }
    const template = parseTemplate(value, start, maxTokens - tokens)
    // Line numbers inside of the string are not those of the file.
    for (const call of template.calls) calls.push({ ...call, line: start })
    countTokens(template.tokens)
    if (!template.complete) complete = false
    return template.value
  }

  function readValue(depth: number): ConfigNode {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    countTokens(1)
    const char = peek()
    if (char === '"') return readString()
    if (char === '{') return { kind: 'object', entries: readMembers('}', () => readEntry(depth + 1)) }
    if (char === '[') return { kind: 'array', items: readMembers(']', () => readValue(depth + 1)) }
    return { kind: 'word', word: take(WORD) }
  }

  /** Reads what stands between two brackets, separated by commas. */
  function readMembers<Member>(end: string, read: () => Member): Member[] {
    const members: Member[] = []
    at++
    if (peek() === end) {
      at++
      return members
    }
    for (;;) {
      members.push(read())
      const char = peek()
      if (char !== ',' && char !== end) throw new SyntaxError('a comma is missing')
      at++
      if (char === end) return members
    }
  }

  function readEntry(depth: number): ConfigEntry {
    peek()
    const start = currentLine()
    const key = readString()
    if (peek() !== ':') throw new SyntaxError('a colon is missing')
    at++
    const value = readValue(depth)
    return { key: key.kind === 'string' && key.whole ? key.value : null, line: start, value }
  }

  try {
    const root = readValue(0)
    take(SPACE)
    if (at !== text.length) throw new SyntaxError('text after the document')
    return { root, calls, complete, tokens }
  } catch (error) {
    if (error instanceof TooManyTokens) throw error
    return { root: { kind: 'computed' }, calls, complete: false, tokens }
  }
}
