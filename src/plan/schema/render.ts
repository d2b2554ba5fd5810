import { type Attribute, type Block, keyOf, type NestedBlock, readBlock, type TypeSchema } from './read.ts'

/** Characters of one type at most, and of all of them together. */
export interface SchemaRoom {
  type: number
  total: number
}

/** Schemas as text, in the given order, as far as there is room; `told` holds the keys of those that are in it. */
export function renderTypes(schemas: readonly TypeSchema[], room: SchemaRoom): { text: string; told: string[] } {
  const parts: string[] = []
  const told: string[] = []
  let left = room.total
  for (const schema of schemas) {
    const text = renderType(schema, Math.min(room.type, left))
    if (text === null || text.length > left) continue
    parts.push(text)
    told.push(keyOf(schema))
    left -= text.length + 2
    if (left <= 0) break
  }
  return { text: parts.join('\n\n'), told }
}

/** How much is told; less when a type is too large. */
interface Detail {
  /** Longest description. */
  description: number
  /** Nested blocks below this depth are named only. */
  depth: number
  /** Attributes that code cannot set. */
  computed: boolean
}
const LEVELS: readonly Detail[] = [
  { description: 90, depth: 5, computed: true },
  { description: 0, depth: 5, computed: true },
  { description: 0, depth: 3, computed: false },
  { description: 0, depth: 1, computed: false },
]
const CUT = '  … cut: the schema is longer'
/** Every resource takes these; the schema of some old providers repeats them. */
const HIDDEN = new Set(['timeouts'])

/** The arguments of one type, a line each; at most about `limit` characters. Null when the schema cannot be read. */
export function renderType(schema: TypeSchema, limit: number): string | null {
  const block = readBlock(schema.schema)
  if (!block) return null
  const head = `${schema.mode} "${schema.type}" (${shortSource(schema.provider)}${schema.version ? ` ${schema.version}` : ''})${block.deprecated ? ', deprecated' : ''}`
  let text = ''
  for (const detail of LEVELS) {
    text = [head, ...blockLines(block, detail, 1)].join('\n')
    if (text.length <= limit) return text
  }
  const end = text.lastIndexOf('\n', Math.max(head.length, limit - CUT.length))
  return `${text.slice(0, Math.max(end, head.length))}\n${CUT}`
}

const shortSource = (source: string) => source.split('/').slice(-2).join('/')
const indent = (depth: number) => '  '.repeat(depth)

function blockLines({ attributes = {}, block_types = {} }: Block, detail: Detail, depth: number): string[] {
  const lines = Object.entries(attributes)
    .filter(([, attribute]) => detail.computed || isSettable(attribute))
    .sort(([a, x], [b, y]) => weight(x) - weight(y) || (a < b ? -1 : 1))
    .flatMap(([name, attribute]) => attributeLines(name, attribute, detail, depth))
  const blocks = Object.entries(block_types)
    .filter(([name]) => !HIDDEN.has(name))
    .sort(([, a], [, b]) => (b.min_items ?? 0) - (a.min_items ?? 0))
  return [...lines, ...blocks.flatMap(([name, nested]) => nestedLines(name, nested, detail, depth))]
}

const isSettable = ({ required, optional }: Attribute) => required === true || optional === true
const weight = (attribute: Attribute) => (attribute.required ? 0 : isSettable(attribute) ? 1 : 2)

function attributeLines(name: string, attribute: Attribute, detail: Detail, depth: number): string[] {
  const { nested_type } = attribute
  const type = nested_type ? `${nested_type.nesting_mode ?? 'single'} of object` : typeText(attribute.type)
  const line = `${indent(depth)}${name}: ${[type, ...flagsOf(attribute)].join(', ')}${described(attribute, detail)}`
  if (!nested_type?.attributes || depth >= detail.depth || !isSettable(attribute)) return [line]
  return [line, ...blockLines({ attributes: nested_type.attributes }, detail, depth + 1)]
}

function flagsOf(attribute: Attribute): string[] {
  const { required, optional, computed, deprecated, sensitive, write_only } = attribute
  const flags: [unknown, string][] = [
    [required, 'required'],
    [optional, computed ? 'optional, computed' : 'optional'],
    [computed && !optional, 'read-only'],
    [sensitive, 'sensitive'],
    [write_only, 'write-only'],
    [deprecated, 'deprecated'],
  ]
  return flags.filter(([on]) => on === true).map(([, flag]) => flag)
}

function described({ description, computed, optional, required }: Attribute, detail: Detail): string {
  const first = description?.replaceAll(/\s+/g, ' ').trim() ?? ''
  if (detail.description === 0 || first === '' || (computed && !optional && !required)) return ''
  return ` # ${first.length > detail.description ? `${first.slice(0, detail.description)}…` : first}`
}

function nestedLines(
  name: string,
  { nesting_mode, block = {}, min_items = 0, max_items = 0 }: NestedBlock,
  detail: Detail,
  depth: number,
) {
  const limits = [
    min_items > 0 ? `at least ${min_items}` : 'optional',
    ...(max_items > 0 ? [`at most ${max_items}`] : []),
  ]
  const line = `${indent(depth)}block ${name}: ${[nesting_mode ?? 'list', ...limits, ...(block.deprecated ? ['deprecated'] : [])].join(', ')}`
  if (depth < detail.depth) return [line, ...blockLines(block, detail, depth + 1)]
  const names = [...Object.keys(block.attributes ?? {}), ...Object.keys(block.block_types ?? {})]
  return [names.length > 0 ? `${line} { ${names.join(', ')} }` : line]
}

const MAX_TYPE_DEPTH = 8

/** `["map","string"]` as `map(string)`. */
export function typeText(type: unknown, depth = 0): string {
  if (typeof type === 'string') return type === 'dynamic' ? 'any' : type
  if (!Array.isArray(type) || depth > MAX_TYPE_DEPTH) return 'any'
  const [kind, of, optional] = type
  if (kind === 'object' && typeof of === 'object' && of !== null) {
    const loose = new Set(Array.isArray(optional) ? optional : [])
    const members = Object.entries(of).map(
      ([name, member]) => `${name}${loose.has(name) ? '?' : ''}: ${typeText(member, depth + 1)}`,
    )
    return `object({${members.join(', ')}})`
  }
  if (kind === 'tuple' && Array.isArray(of))
    return `tuple([${of.map((member) => typeText(member, depth + 1)).join(', ')}])`
  return typeof kind === 'string' ? `${kind}(${typeText(of, depth + 1)})` : 'any'
}
