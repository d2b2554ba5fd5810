import * as v from 'valibot'
import { readHcl, traversalsIn } from '../../src/hcl/read.ts'
import type { HclBlock, HclBody } from '../../src/hcl/tree.ts'
import { type Attribute, type Block, isSettable, readBlock } from '../../src/plan/schema/read-schema.ts'

const Types = v.optional(v.record(v.string(), v.unknown()), {})
const Document = v.object({
  provider_schemas: v.record(v.string(), v.object({ resource_schemas: Types, data_source_schemas: Types })),
})

export interface ProviderSchema {
  resource: Map<string, Block>
  data: Map<string, Block>
}

/** Reads the types of all providers from `providers schema -json`. Errors: `ValiError` for another document. */
export function readProviderSchema(document: unknown): ProviderSchema {
  const providers = Object.values(v.parse(Document, document).provider_schemas)
  const types = (key: 'resource_schemas' | 'data_source_schemas') =>
    new Map(
      providers
        .flatMap((provider) => Object.entries(provider[key]))
        .flatMap(([type, schema]) => {
          const block = readBlock(schema)
          return block === null ? [] : [[type, block] as const]
        }),
    )
  return { resource: types('resource_schemas'), data: types('data_source_schemas') }
}

interface UnknownArgument {
  /** Path of the argument, for example `google_storage_bucket.website.error_page`. */
  path: string
  line: number
  /** Rest of a sentence that begins with the path. */
  problem: string
}

const META = new Set(['count', 'for_each', 'provider', 'depends_on'])
const META_BLOCKS = new Set(['lifecycle', 'connection', 'provisioner', 'timeouts'])

/** Finds unknown, read-only, deprecated and missing arguments. Types outside of the schema are not checked. */
export function findUnknownArguments(schema: ProviderSchema, hcl: string): UnknownArgument[] {
  const prefixes = new Set([...schema.resource.keys(), ...schema.data.keys()].map((type) => type.split('_')[0]))
  return readHcl(hcl).body.blocks.flatMap((block) => {
    const [type = ''] = block.labels
    if ((block.type !== 'resource' && block.type !== 'data') || !prefixes.has(type.split('_')[0])) return []
    const blockSchema = schema[block.type].get(type)
    if (blockSchema === undefined) return [{ path: type, line: block.line, problem: 'is no type of its provider' }]
    const deprecated = blockSchema.deprecated ? [{ path: type, line: block.line, problem: 'is deprecated' }] : []
    return [...deprecated, ...judged(blockSchema, block.body, type, block.line, true)]
  })
}

function judged(known: Block, body: HclBody, path: string, line: number, top: boolean): UnknownArgument[] {
  const set = body.attributes.filter(({ name }) => !(top && META.has(name)))
  const blocks = body.blocks.map(unrollDynamic).filter(({ type }) => !(top && META_BLOCKS.has(type)))
  const names = new Set([...set.map(({ name }) => name), ...blocks.map(({ type }) => type)])
  const at = (name: string) => `${path}.${name}`
  return [
    ...set.flatMap(({ name, line: where }) =>
      problems(known, name, false).map((problem) => ({ path: at(name), line: where, problem })),
    ),
    ...blocks.flatMap((block) => {
      const { type, line: where } = block
      const inner = known.block_types?.[type]?.block
      const own = problems(known, type, true).map((problem) => ({ path: at(type), line: where, problem }))
      return inner === undefined ? own : [...own, ...judged(inner, block.body, at(type), where, false)]
    }),
    ...requiredBy(known)
      .filter((name) => !names.has(name))
      .map((name) => ({ path: at(name), line, problem: 'is required' })),
  ]
}

const requiredBy = ({ attributes = {}, block_types = {} }: Block): string[] => [
  ...Object.keys(attributes).filter((name) => attributes[name]?.required),
  ...Object.keys(block_types).filter((name) => (block_types[name]?.min_items ?? 0) > 0),
]

/** Replaces a block `dynamic "x" { content { … } }` by the block x. */
function unrollDynamic(block: HclBlock): HclBlock {
  const content = block.type === 'dynamic' ? block.body.blocks.find(({ type }) => type === 'content') : undefined
  return content === undefined ? block : { ...content, type: block.labels[0] ?? '', line: block.line }
}

function problems({ attributes = {}, block_types = {} }: Block, name: string, asBlock: boolean): string[] {
  const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  const block = Object.hasOwn(block_types, name) ? block_types[name] : undefined
  if (block !== undefined)
    return asBlock ? (block.block?.deprecated ? ['is deprecated'] : []) : ['is a block, not an argument']
  if (attribute === undefined) return ['does not exist']
  if (asBlock && !isListOfObjects(attribute)) return ['is an argument, not a block']
  if (!isSettable(attribute)) return ['cannot be set']
  return attribute.deprecated ? ['is deprecated'] : []
}

/** True if an attribute is a list of objects, which may be written as blocks too. */
const isListOfObjects = ({ type }: Attribute): boolean =>
  Array.isArray(type) && (type[0] === 'list' || type[0] === 'set') && Array.isArray(type[1]) && type[1][0] === 'object'

/** Finds references to attributes that a type of the providers does not have, in code and addresses. */
export function findUnknownReferences(schema: ProviderSchema, code: string): string[] {
  const unknown = traversalsIn(code).flatMap((names) => {
    const isData = names[0] === 'data'
    const [type = '', , attribute] = isData ? names.slice(1) : names
    const known = (isData ? schema.data : schema.resource).get(type)
    if (known === undefined || attribute === undefined) return []
    const isKnown =
      Object.hasOwn(known.attributes ?? {}, attribute) || Object.hasOwn(known.block_types ?? {}, attribute)
    return isKnown ? [] : [names.slice(0, isData ? 4 : 3).join('.')]
  })
  return [...new Set(unknown)]
}
