import type { PlannedResource } from '../../client/api/client.ts'
import { ExactNumber, parseJson } from '../../client/json.ts'
import { excerpt } from '../words.ts'

export type PlannedAttribute = PlannedResource['attributes'][number]
/** The sides of a change of an attribute or an output. */
export type Sides = Pick<PlannedAttribute, 'before' | 'after' | 'unknown' | 'sensitive' | 'cut'>
/** The actions that change objects. */
export const CHANGES = ['create', 'update', 'replace', 'delete', 'import', 'move', 'forget'] as const
/** True if the change destroys the present object. */
export const isLoss = ({ action }: Pick<PlannedResource, 'action'>): boolean =>
  action === 'delete' || action === 'replace'
/** True if it cannot be told whether the change destroys data or access. Documents of earlier versions never tell. */
export const isUnknownLoss = (
  resource: Pick<PlannedResource, 'action' | 'is_critical' | 'criticality_known'>,
): boolean => isLoss(resource) && !resource.is_critical && resource.criticality_known !== true
type Path = PlannedAttribute['path']

/** The length up to which texts are shown. The API cuts values at 4,000; a document of another origin may not. */
export const MAX_VALUE = 20_000

/** The content of a cell. `text` is the value, `note` a remark about an absent value. */
export interface Shown {
  kind: 'note' | 'text'
  text: string
  /** True for several lines, or a text that is too long for one. */
  is_block: boolean
}

const note = (text: string): Shown => ({ kind: 'note', text, is_block: false })

/** Returns the parts of a path, such as `ingress › item 1 › port`; items are counted from 1. */
export const pathParts = (path: Path): string[] =>
  path.map((part) => (typeof part === 'number' ? `item ${part + 1}` : excerpt(part, 200)))

export const pathKey = (path: Path): string => JSON.stringify(path)

/** Returns the value before or after, for readers who do not know HCL. */
export function showSide(sides: Sides, side: 'before' | 'after'): Shown {
  const value = sides[side]
  if (side === 'after' && sides.unknown) return note('known after the apply')
  if (sides.sensitive && value !== null) return note('(sensitive value)')
  if (value === null || value === undefined) return note('not set')
  return showValue(value, needsQuotes(sides))
}

function showValue(value: unknown, quoted: boolean): Shown {
  if (typeof value === 'string') {
    if (value === '') return note('empty text')
    const pretty = prettyJson(value)
    const text = pretty ?? (quoted || value.trim() !== value ? JSON.stringify(value) : value)
    return asText(text)
  }
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return asText(String(value))
  if (Array.isArray(value) && value.length === 0) return note('empty list')
  if (Object.keys(value).length === 0) return note('empty map')
  return asText(JSON.stringify(value, null, 2))
}

function asText(whole: string): Shown {
  const text = excerpt(whole, MAX_VALUE)
  return { kind: 'text', text, is_block: text.includes('\n') || text.length > 120 }
}

/** True if a number becomes a text of the same digits, which only quotes can show. */
const needsQuotes = ({ before, after }: Sides): boolean =>
  typeof before !== typeof after && before !== null && after !== null && String(before) === String(after)

/** Returns a JSON list or map on several lines; null for any other text. */
export function prettyJson(text: string): string | null {
  if (text.length > MAX_VALUE || !/^\s*[[{]/.test(text)) return null
  const value = parseJson(text)
  return typeof value === 'object' ? JSON.stringify(sortKeys(value), null, 2) : null
}

/** Sorts keys, because their order is not a difference. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}

/** Returns the value of an attribute as text to search in. Sensitive values are masked and not searched. */
export const searchable = ({ before, after, sensitive }: Sides): string =>
  sensitive ? '' : `${plain(before)}\n${plain(after)}`.toLowerCase()

const plain = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/**
 * Sorts the attributes: those that force a replacement, then changes, then those that only identify the object.
 */
export function orderAttributes(resource: Pick<PlannedResource, 'attributes' | 'replace'>) {
  const forcing = new Set(resource.replace?.reasons.map(({ path }) => pathKey(path)))
  const isForcing = ({ path }: PlannedAttribute): boolean =>
    forcing.size > 0 && path.some((_, index) => forcing.has(pathKey(path.slice(0, index + 1))))
  const rank = (row: { forces: boolean; attribute: PlannedAttribute }) =>
    row.forces ? 0 : row.attribute.change === 'same' ? 2 : 1
  return resource.attributes
    .map((attribute) => ({ attribute, forces: isForcing(attribute) }))
    .sort((a, b) => rank(a) - rank(b))
}

/** Returns the columns of values that a resource needs: a new object has no value before. */
export function columnsOf(attributes: readonly PlannedAttribute[]): ('before' | 'after')[] {
  const changes = new Set(attributes.map(({ change }) => change))
  if (!changes.has('changed') && !changes.has('removed') && !changes.has('same')) return ['after']
  if (!changes.has('changed') && !changes.has('added') && !changes.has('same')) return ['before']
  return ['before', 'after']
}
