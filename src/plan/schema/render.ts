import {
  type Attribute,
  type Block,
  isSettable,
  keyOf,
  type NestedBlock,
  readBlock,
  type TypeSchema,
} from './read-schema.ts'

/**
 * Renders schemas as text in the given order, as far as there is room.
 * @param room characters for one type and for all types together
 * @returns the text, and the keys (`keyOf`) of the schemas in it
 */
export function renderTypes(
  schemas: readonly TypeSchema[],
  room: { type: number; total: number },
): { text: string; keys: string[] } {
  const parts: string[] = []
  const keys: string[] = []
  let left = room.total
  for (const schema of schemas) {
    const text = renderType(schema, Math.min(room.type, left))
    if (text === null || text.length > left) continue
    parts.push(text)
    keys.push(keyOf(schema))
    left -= text.length + 2
    if (left <= 0) break
  }
  return { text: parts.join('\n\n'), keys }
}

/** Detail of a rendered type; it is reduced step by step for types that are too large. */
interface Detail {
  /** Longest attribute description in characters; 0 leaves descriptions out. */
  description: number
  /** Depth from which blocks list only names; blocks directly below the type have depth 1. */
  depth: number
  /** True if attributes that code cannot set are listed. */
  computed: boolean
}
const LEVELS: readonly Detail[] = [
  { description: 90, depth: 5, computed: true },
  { description: 0, depth: 5, computed: true },
  { description: 0, depth: 3, computed: false },
  { description: 0, depth: 2, computed: false },
  { description: 0, depth: 1, computed: false },
  // All names remain: a reader would take a missing name for one that does not exist.
  { description: 0, depth: 0, computed: false },
]
const CUT = '  … cut: the schema is longer'
/** Blocks that every resource accepts and that are not worth listing. */
const HIDDEN = new Set(['timeouts'])

/** Renders a type's arguments, one a line, in about `limit` characters; null when the schema is unreadable. */
export function renderType(schema: TypeSchema, limit: number): string | null {
  const block = readBlock(schema.schema)
  if (!block) return null
  const provider = `${shortSource(schema.provider)}${schema.version ? ` ${schema.version}` : ''}`
  const head = `${schema.mode} "${schema.type}" (${provider})${block.deprecated ? ', deprecated' : ''}`
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

const weight = (attribute: Attribute) => (attribute.required ? 0 : isSettable(attribute) ? 1 : 2)

function attributeLines(name: string, attribute: Attribute, detail: Detail, depth: number): string[] {
  const { nested_type } = attribute
  const type = nested_type ? `${nested_type.nesting_mode ?? 'single'} of object` : typeText(attribute.type)
  const facts = [type, ...flagsOf(attribute)].join(', ')
  const description = renderDescription(attribute, detail)
  const line = `${indent(depth)}${name}: ${facts}`
  if (!nested_type?.attributes || !isSettable(attribute)) return [`${line}${description}`]
  const inside = { attributes: nested_type.attributes }
  if (depth < detail.depth) return [`${line}${description}`, ...blockLines(inside, detail, depth + 1)]
  return [`${line}${namesInside(inside, detail, depth)}${description}`]
}

/** Lists the names within a block on one line; empty when even these are too many. */
function namesInside({ attributes = {}, block_types = {} }: Block, detail: Detail, depth: number): string {
  if (depth > detail.depth) return ''
  const needed = [
    ...Object.keys(attributes).filter((name) => attributes[name]?.required),
    ...Object.keys(block_types).filter((name) => (block_types[name]?.min_items ?? 0) > 0),
  ]
  const others = [
    ...Object.keys(attributes).filter((name) => detail.computed || isSettable(attributes[name] ?? {})),
    ...Object.keys(block_types),
  ].filter((name) => !needed.includes(name))
  const names = [...needed.map((name) => `${name} (required)`), ...others]
  return names.length > 0 ? ` { ${names.join(', ')} }` : ''
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

function renderDescription({ description, computed, optional, required }: Attribute, detail: Detail): string {
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
    ...(block.deprecated ? ['deprecated'] : []),
  ]
  const line = `${indent(depth)}block ${name}: ${[nesting_mode ?? 'list', ...limits].join(', ')}`
  if (depth < detail.depth) return [line, ...blockLines(block, detail, depth + 1)]
  return [`${line}${namesInside(block, detail, depth)}`]
}

const MAX_TYPE_DEPTH = 8

/** Renders a type constraint as in code: `["map","string"]` becomes `map(string)`. */
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
