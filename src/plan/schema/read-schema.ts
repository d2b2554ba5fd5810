import * as v from 'valibot'

/** A type that code can declare, with its kind and name. */
export interface TypeName {
  mode: 'resource' | 'data' | 'ephemeral'
  type: string
}

/** The schema of one type as the engine prints it. */
export interface TypeSchema extends TypeName {
  /** Source address of the provider, for example `registry.opentofu.org/hashicorp/aws`. */
  provider: string
  version: string | null
  schema: unknown
}

export const keyOf = ({ mode, type }: TypeName): string => `${mode} ${type}`

const text = v.fallback(v.optional(v.string()), undefined)
const flag = v.fallback(v.optional(v.boolean()), undefined)
const count = v.fallback(v.optional(v.number()), undefined)
const members = <T>(entry: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Record<string, T> | undefined> =>
  v.fallback(v.optional(v.record(v.string(), entry)), undefined)

const attributeFields = {
  type: v.optional(v.unknown()),
  description: text,
  required: flag,
  optional: flag,
  computed: flag,
  deprecated: flag,
  sensitive: flag,
  write_only: flag,
}
export interface Attribute extends v.InferOutput<v.ObjectSchema<typeof attributeFields, undefined>> {
  nested_type?: { nesting_mode?: string | undefined; attributes?: Record<string, Attribute> | undefined } | undefined
}
export interface NestedBlock {
  nesting_mode?: string | undefined
  block?: Block | undefined
  min_items?: number | undefined
  max_items?: number | undefined
}
export interface Block {
  attributes?: Record<string, Attribute> | undefined
  block_types?: Record<string, NestedBlock> | undefined
  deprecated?: boolean | undefined
}

const AttributeSchema: v.GenericSchema<unknown, Attribute> = v.object({
  ...attributeFields,
  nested_type: v.optional(
    v.lazy(() => v.object({ nesting_mode: text, attributes: v.optional(members(AttributeSchema)) })),
  ),
})
const BlockSchema: v.GenericSchema<unknown, Block> = v.object({
  attributes: v.optional(members(AttributeSchema)),
  block_types: members(
    v.object({ nesting_mode: text, block: v.optional(v.lazy(() => BlockSchema)), min_items: count, max_items: count }),
  ),
  deprecated: flag,
})
/** Reads a block of `providers schema -json`; null when it has another form. */
export function readBlock(schema: unknown): Block | null {
  const parsed = v.safeParse(v.object({ block: BlockSchema }), schema)
  return parsed.success ? parsed.output.block : null
}

/** Returns the names of the arguments that a block requires, with those of its required blocks. */
export function requiredArguments({ attributes = {}, block_types = {} }: Block): string[] {
  const inside = Object.values(block_types).filter(({ min_items = 0 }) => min_items > 0)
  return [
    ...Object.keys(attributes).filter((name) => attributes[name]?.required),
    ...inside.flatMap(({ block }) => (block ? requiredArguments(block) : [])),
  ]
}

/** Reports whether code may set an attribute. */
export const isSettable = ({ required, optional }: Attribute) => required === true || optional === true

const DECLARED = /^[+\- ]?\s*(resource|data|ephemeral)\s+"?([A-Za-z][\w-]*)"?\s+"?[\w-]+"?/gm
/** The engine's form of an error's place: `in resource "aws_s3_bucket" "logs"`. */
const QUOTED = /\b(resource|data|ephemeral)\s+"([A-Za-z][\w-]*)"/g
const ADDRESS = /\b(data|ephemeral)\.([a-z][a-z0-9]*_[a-z0-9_]+)\b/g
const WORD = /(?<![\w./"-])([a-z][a-z0-9]*_[a-z0-9_]+)(?![\w/-])/g

/** Returns the types that blocks of code or a diff declare, in order of first occurrence. */
export function declaredTypes(code: string): TypeName[] {
  return uniqueTypes([...code.matchAll(DECLARED)].map(typeNameOf))
}

/** Returns every word that looks like a type name, in prose, addresses and diagnostics, whether it exists or not. */
export function mentionedTypes(text: string): TypeName[] {
  const quoted = [...text.matchAll(QUOTED)].map(typeNameOf)
  const addresses = [...text.matchAll(ADDRESS)].map(typeNameOf)
  const words = [...text.matchAll(WORD)].map(([, type = '']): TypeName => ({ mode: 'resource', type }))
  return uniqueTypes([...quoted, ...words, ...addresses])
}

/** Returns the kind that the word before a type means; managed resources have none in addresses. */
export const modeOf = (word: string | undefined): TypeName['mode'] =>
  word === 'data' || word === 'ephemeral' ? word : 'resource'

const typeNameOf = ([, mode, type = '']: RegExpExecArray): TypeName => ({ mode: modeOf(mode), type })

/** Removes repetitions, keeping the order of first occurrence. */
export function uniqueTypes(types: readonly TypeName[]): TypeName[] {
  const seen = new Map<string, TypeName>()
  for (const type of types) if (!seen.has(keyOf(type))) seen.set(keyOf(type), type)
  return [...seen.values()]
}

/** Returns the existing types whose words, after that of the provider, all occur in a text, most words first. */
export function typesNamedIn(text: string, existing: readonly string[]): string[] {
  const said = new Set((text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(singular))
  return existing
    .map((type) => ({ type, words: type.split('_').slice(1).map(singular) }))
    .filter(({ words }) => words.length > 0 && words.every((word) => said.has(word)))
    .sort((a, b) => b.words.length - a.words.length || (a.type < b.type ? -1 : 1))
    .map(({ type }) => type)
}

/** Returns the names whose words all occur in an argument: `security_group` for `source_security_groups`. */
export function namesInArgument(argument: string, names: readonly string[]): string[] {
  const words = new Set(argument.split('_').map(singular))
  return names.filter((name) => name.split('_').every((word) => words.has(singular(word))))
}

const singular = (word: string): string => word.replace(/(?<=[a-z]{3})s$/, '')

const wordsOf = (name: string) => new Set(name.toLowerCase().split(/[_-]+/).filter(Boolean))

/** Returns at most `count` existing names that share the most words with an unknown one, best first. */
export function nearNames(name: string, existing: readonly string[], count = 5): string[] {
  const wantedWords = wordsOf(name)
  const prefix = name.split('_', 1)[0] ?? ''
  return existing
    .map((other) => ({
      other,
      score: likeness(wantedWords, wordsOf(other)) + (other.startsWith(`${prefix}_`) ? 0.1 : 0),
    }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score || a.other.length - b.other.length || (a.other < b.other ? -1 : 1))
    .slice(0, count)
    .map(({ other }) => other)
}

/** Returns the share of common words among all words, from 0 to 1. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  return shared / (a.size + b.size - shared || 1)
}
