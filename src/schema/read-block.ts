import * as v from 'valibot'

const text = v.fallback(v.optional(v.string()), undefined)
const flag = v.fallback(v.optional(v.boolean()), undefined)
const count = v.fallback(v.optional(v.number()), undefined)
const members = <T>(entry: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Record<string, T> | undefined> =>
  v.fallback(v.optional(v.record(v.string(), entry)), undefined)

export interface Attribute {
  type?: unknown
  nested_type?: NestedType | undefined
  description?: string | undefined
  required?: boolean | undefined
  optional?: boolean | undefined
  computed?: boolean | undefined
  deprecated?: boolean | undefined
  sensitive?: boolean | undefined
  write_only?: boolean | undefined
}
interface NestedType {
  nesting_mode?: string | undefined
  attributes?: Record<string, Attribute> | undefined
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
  type: v.optional(v.unknown()),
  nested_type: v.optional(
    v.lazy(() => v.object({ nesting_mode: text, attributes: v.optional(members(AttributeSchema)) })),
  ),
  description: text,
  required: flag,
  optional: flag,
  computed: flag,
  deprecated: flag,
  sensitive: flag,
  write_only: flag,
})
const BlockSchema: v.GenericSchema<unknown, Block> = v.object({
  attributes: v.optional(members(AttributeSchema)),
  block_types: members(
    v.object({ nesting_mode: text, block: v.optional(v.lazy(() => BlockSchema)), min_items: count, max_items: count }),
  ),
  deprecated: flag,
})
const TypeSchemaSchema = v.object({ block: BlockSchema })

/** The block of a schema as `providers schema -json` writes it; null for anything else. */
export function readBlock(schema: unknown): Block | null {
  const parsed = v.safeParse(TypeSchemaSchema, schema)
  return parsed.success ? parsed.output.block : null
}
