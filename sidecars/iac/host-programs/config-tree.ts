import { parseHcl } from '../../../src/hcl/parser.ts'
import type { HclBody, HclCall } from '../../../src/hcl/tree.ts'

/**
 * Configuration as a tree. Both forms of the language become the same one: a block is an entry of its type, and each
 * label is an entry below it. Of duplicate keys all stay, so that none can hide another.
 */
export type ConfigNode =
  | { kind: 'object'; entries: ConfigEntry[] }
  | { kind: 'array'; items: ConfigNode[] }
  /** Of a string with templates, `value` is what stands before the first one that only the engine can compute. */
  | { kind: 'string'; value: string; whole: boolean }
  /** A number, `true`, `false`, `null` or the name of a value. */
  | { kind: 'word'; word: string }
  /** Only the engine can compute it. */
  | { kind: 'computed' }

export interface ConfigEntry {
  /** Null when only the engine can compute the key of an object. */
  key: string | null
  line: number
  value: ConfigNode
  /** The entry is certainly a block. In JSON a block and an object look the same. */
  block?: boolean
}

export interface ConfigTree {
  root: ConfigNode
  calls: HclCall[]
  /** False when the text could not be followed to its end. */
  complete: boolean
  /** Tokens that were read. */
  tokens: number
}

/** Thrown when a file has more words and marks than any that is written by people or programs. */
export class TooManyTokens extends Error {}

/** Reads a file of the native form. Errors: `TooManyTokens`. */
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

/** Entries of an object, or of all objects of a list. The engine takes a list of objects for several blocks. */
export function entriesOf(node: ConfigNode): ConfigEntry[] {
  if (node.kind === 'object') return node.entries
  return node.kind === 'array' ? node.items.flatMap(entriesOf) : []
}

export const entriesNamed = (node: ConfigNode, key: string): ConfigEntry[] =>
  entriesOf(node).filter((entry) => entry.key === key)

/**
 * The bodies of all blocks of a type, with their labels; a type has a fixed number of them, such as two of `resource`.
 */
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

/** All entries below a node, in any depth. */
export function* descendantsOf(node: ConfigNode): Generator<ConfigEntry> {
  if (node.kind === 'array') for (const item of node.items) yield* descendantsOf(item)
  if (node.kind !== 'object') return
  for (const entry of node.entries) {
    yield entry
    yield* descendantsOf(entry.value)
  }
}

/** All strings of a value, in any depth. */
export function* stringsOf(node: ConfigNode): Generator<{ value: string; whole: boolean }> {
  if (node.kind === 'string') yield node
  if (node.kind === 'array') for (const item of node.items) yield* stringsOf(item)
  if (node.kind === 'object') for (const { value } of node.entries) yield* stringsOf(value)
}

/** True if a value says nothing: null, an empty text, an empty list or object. */
export const isUnset = (node: ConfigNode): boolean =>
  (node.kind === 'word' && node.word === 'null') ||
  (node.kind === 'string' && node.whole && node.value.trim() === '') ||
  (node.kind === 'array' && node.items.every(isUnset)) ||
  (node.kind === 'object' && node.entries.length === 0)
