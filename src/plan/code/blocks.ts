import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts'
import { addressIn, isWrittenOut, readHcl, traversalsIn, withoutLayout } from '../../hcl/read.ts'
import type { HclAttribute, HclBlock } from '../../hcl/tree.ts'

/** A top-level block of a file in either syntax; each local value is one. */
export interface CodeBlock {
  /** For example `resource`, `module`, `moved`, and `local` for a local value. */
  kind: string
  labels: string[]
  /** First line, from 1; null in the JSON syntax. */
  line: number | null
  /**
   * Arguments by name; those of a block within it after its type and a dot, such as `lifecycle.ignore_changes`. That of
   * a local value is `value`, in the native syntax.
   */
  arguments: ReadonlyMap<string, CodeValue>
  /** Returns a text that is equal for blocks which differ only in comments and layout. */
  meaning(): string
  /** Returns the names of each reference in it, such as `var`, `size`. */
  references(): string[][]
}

export interface CodeValue {
  /** Its expression; in the JSON syntax the text. */
  code: string
  /** The text that it is; null for any other value, and for one that only the engine can compute. */
  text: string | null
  /** Every text in it that is written out. */
  texts: string[]
}

/** The blocks of a file. */
export interface CodeBlocks {
  blocks: CodeBlock[]
  /** False when the file has syntax errors or is too long, so that it may hold something else. */
  isSound: boolean
}

/** Code of the engine, in either syntax and for either engine. */
export const isCodePath = (path: string): boolean => /\.(?:tf|tofu)(?:\.json)?$/.test(path)

export const isJsonCode = (path: string): boolean => /\.(?:tf|tofu)\.json$/.test(path)

/** Reads the top-level blocks of a file of code. Never throws; a block that is never closed extends as far as it can. */
export function readBlocks(path: string, text: string): CodeBlocks {
  if (isJsonCode(path)) return readJson(text)
  const { body, complete, faults } = readHcl(text)
  return {
    blocks: body.blocks.flatMap((block) =>
      block.type === 'locals' ? localsOf(block, text) : nativeBlock(block, text),
    ),
    isSound: complete && faults.length === 0,
  }
}

function nativeBlock({ type, labels, line, body, bodyStart, bodyEnd }: HclBlock, text: string): CodeBlock {
  const code = text.slice(bodyStart, bodyEnd)
  const named = (prefix: string, attributes: readonly HclAttribute[]) =>
    attributes.map((attribute): [string, CodeValue] => [`${prefix}${attribute.name}`, nativeValue(attribute, text)])
  const inner = body.blocks.flatMap((block) => named(`${block.type}.`, block.body.attributes))
  return {
    kind: type,
    labels,
    line,
    meaning: () => withoutLayout(code),
    arguments: new Map([...inner, ...named('', body.attributes)]),
    references: () => traversalsIn(code),
  }
}

function localsOf({ body }: HclBlock, text: string): CodeBlock[] {
  return body.attributes.map((attribute) => {
    const code = text.slice(attribute.valueStart, attribute.end)
    return {
      kind: 'local',
      labels: [attribute.name],
      line: attribute.line,
      meaning: () => withoutLayout(code),
      arguments: new Map([['value', nativeValue(attribute, text)]]),
      references: () => traversalsIn(code),
    }
  })
}

function nativeValue({ value, valueStart, end }: HclAttribute, text: string): CodeValue {
  const code = text.slice(valueStart, end)
  const values = value.kind === 'object' ? value.entries.map((entry) => entry.value) : [value]
  const texts = values.flatMap((one) => (one.kind === 'string' && isWrittenOut(one) ? [one.value] : []))
  return { code, text: value.kind === 'string' ? (texts[0] ?? null) : null, texts }
}

/** Number of labels of the kinds that have some. */
const LABELS: Readonly<Record<string, number>> = {
  resource: 2,
  data: 2,
  ephemeral: 2,
  module: 1,
  variable: 1,
  output: 1,
  provider: 1,
  check: 1,
}

function readJson(text: string): CodeBlocks {
  const root = parseJson(text.replace(/^\uFEFF/, ''))
  const bodies = objectsIn(root)
  return {
    blocks: bodies.flatMap((body) =>
      Object.entries(body).flatMap(([kind, value]) => {
        if (kind === '//') return []
        if (kind === 'locals')
          return objectsIn(value).flatMap((locals) =>
            Object.entries(locals).map(([name, local]) => jsonBlock('local', [name], local)),
          )
        return labelled(value, LABELS[kind] ?? 0).map(({ labels, body }) => jsonBlock(kind, labels, body))
      }),
    ),
    isSound: bodies.length > 0,
  }
}

/** Returns the objects in a value: the JSON syntax has one or a list of them. */
const objectsIn = (value: Json | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : [value]).filter(isJsonObject)

/** Returns the blocks in a value, whose labels are keys of nested objects. */
function labelled(value: Json, count: number): { labels: string[]; body: Json }[] {
  if (count === 0) return (Array.isArray(value) ? value : [value]).map((body) => ({ labels: [], body }))
  return objectsIn(value).flatMap((object) =>
    Object.entries(object).flatMap(([label, inner]) =>
      labelled(inner, count - 1).map(({ labels, body }) => ({ labels: [label, ...labels], body })),
    ),
  )
}

function jsonBlock(kind: string, labels: string[], body: Json): CodeBlock {
  const named = (prefix: string, object: JsonObject) =>
    Object.entries(object).map(([name, value]): [string, CodeValue] => [`${prefix}${name}`, jsonValue(value)])
  const own = kind !== 'local' && isJsonObject(body) ? body : {}
  const inner = Object.entries(own).flatMap(([name, value]) =>
    objectsIn(value).flatMap((object) => named(`${name}.`, object)),
  )
  return {
    kind,
    labels,
    line: null,
    meaning: () => sorted(kind !== 'local' && isJsonObject(body) ? { ...body, '//': null } : body),
    arguments: new Map([...inner, ...named('', own)]),
    references: () =>
      [...textsIn(body)].flatMap((text) => traversalsIn(text, addressIn(text) === null ? 'bare' : 'file')),
  }
}

function jsonValue(value: Json): CodeValue {
  const texts = [...textsIn(value)].filter((text) => !/[$%]\{/.test(text))
  const isText = typeof value === 'string'
  return { code: isText ? value : '', text: isText ? (texts[0] ?? null) : null, texts }
}

function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* textsIn(item)
}

/** Writes a value with the keys of its objects in order. */
const sorted = (value: Json): string => JSON.stringify(sortKeys(value))

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, member]): [string, Json] => [key, sortKeys(member)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns the names of the providers that a block declares, needs or configures, without aliases: those before the first
 * underscore of a type, and the names and sources of `required_providers`.
 */
export function providersOf({ kind, labels: [label = ''], arguments: given }: CodeBlock): string[] {
  if (kind === 'provider') return [label]
  if (kind === 'resource' || kind === 'data' || kind === 'ephemeral') {
    const named = given.get('provider')
    return [(named?.code ?? label.split('_', 1)[0] ?? '').split('.', 1)[0] ?? '']
  }
  if (kind !== 'terraform') return []
  return [...given].flatMap(([name, { texts }]) =>
    name.startsWith('required_providers.')
      ? [name.slice('required_providers.'.length), ...texts.filter((text) => text.includes('/')).map(lastPart)]
      : [],
  )
}

const lastPart = (source: string): string => source.split('/').at(-1) ?? ''
