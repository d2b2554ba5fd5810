import { isJsonObject, type Json } from '../base/json.ts'
import { fits } from './condition.ts'
import type { Operator, Scalar } from './types.ts'

/** Operators that have to hold for every value; the others for one. */
export const isNegative = (op: Operator): boolean => op === 'ne' || op === 'not_contains' || op === 'absent'

/** Nothing is there, or what stands for nothing: null, false, an empty text, list or object. */
export function isNothing(value: Json, depth = 0): boolean {
  if (value === null || value === false || value === '') return true
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.every((item) => isNothing(item, depth + 1))
  return isJsonObject(value) && Object.keys(value).length === 0
}
const MAX_DEPTH = 20

/** Whether a planned value is as the operator says; null when the two cannot be compared. */
export function compare(value: Json, op: Operator, wanted: Scalar | undefined): boolean | null {
  if (op === 'exists') return !isNothing(value)
  if (op === 'absent') return isNothing(value)
  if (wanted === undefined) return null
  if (op === 'eq') return equals(value, wanted)
  if (op === 'ne') return !equals(value, wanted)
  if (op === 'contains') return contains(value, wanted)
  if (op === 'not_contains') return !contains(value, wanted)
  if (op === 'matches') return scalarsOf(value).some((item) => fits(String(wanted), String(item)))
  const limit = numberOf(wanted)
  const numbers = scalarsOf(value).map(numberOf)
  if (limit === null || numbers.length === 0 || numbers.includes(null)) return value === null ? false : null
  return numbers.every((number) => number !== null && (op === 'at_least' ? number >= limit : number <= limit))
}

/** Equal as text in any letter case, as number or as switch; a list of one item is that item. */
function equals(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return listIs(value, wanted, depth)
  if (value === null || isJsonObject(value)) return false
  const [a, b] = [numberOf(value), numberOf(wanted)]
  if (a !== null && b !== null) return a === b
  return folded(value) === folded(wanted)
}

/** A list is what it holds, in any order: `a, b` or `["a", "b"]`. */
function listIs(list: Json[], wanted: Scalar, depth: number): boolean {
  const [only] = list
  if (list.length === 1 && only !== undefined) return depth < MAX_DEPTH && equals(only, wanted, depth + 1)
  const parts = String(wanted)
    .replace(/^\s*\[|\]\s*$/g, '')
    .split(',')
    .map(folded)
  if (parts.length !== list.length || list.length === 0) return false
  const items = list.map((item) => (typeof item === 'object' ? '' : folded(item)))
  return JSON.stringify(items.toSorted()) === JSON.stringify(parts.toSorted())
}

/** A part of a text, an item of a list, a key or a value of an object. */
function contains(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.some((item) => contains(item, wanted, depth + 1))
  if (isJsonObject(value))
    return Object.entries(value).some(([key, item]) => folded(key) === folded(wanted) || equals(item, wanted))
  if (value === null) return false
  return typeof value === 'string' ? folded(value).includes(folded(wanted)) : equals(value, wanted)
}

/** Scalars of a value or of a list. */
const scalarsOf = (value: Json): Scalar[] =>
  (Array.isArray(value) ? value : [value]).filter((item): item is Scalar => item !== null && typeof item !== 'object')

const folded = (value: Scalar): string =>
  String(value)
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .toLowerCase()

function numberOf(value: Scalar): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?\d{1,15}(\.\d{1,15})?\s*$/.test(value) ? Number(value) : null
}
