import { TooManyTokens } from '../../../src/hcl/json.ts'
import { parseHcl } from '../../../src/hcl/parser.ts'
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
