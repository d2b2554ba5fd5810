import { isJsonObject, type Json } from '../../base/json.ts'
import { fits } from './glob.ts'
import type { Operator, Scalar } from './statement.ts'

/** Reports whether an operator must hold for every value at a path; others for one of them. */
export const isNegative = (op: Operator): boolean => op === 'ne' || op === 'not_contains' || op === 'absent'

/** Reports whether a value is absent, null, false, an empty text or object, or a list of such values. */
export function isNothing(value: Json, depth = 0): boolean {
  if (value === null || value === false || value === '') return true
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.every((item) => isNothing(item, depth + 1))
  return isJsonObject(value) && Object.keys(value).length === 0
}
const MAX_DEPTH = 20

/** Compares a planned value with the wanted one; null when they cannot be compared. */
export function compareValue(value: Json, op: Operator, wanted: Scalar | undefined): boolean | null {
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

/** Reports equality: of numbers, else of text in any letter case; a list of one item counts as that item. */
function equals(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return listEquals(value, wanted, depth)
  if (value === null || isJsonObject(value)) return false
  const [a, b] = [numberOf(value), numberOf(wanted)]
  if (a !== null && b !== null) return a === b
  return fold(value) === fold(wanted)
}

/** Reports whether a list has exactly the wanted items in any order, written `a, b` or `["a", "b"]`. */
function listEquals(list: Json[], wanted: Scalar, depth: number): boolean {
  const [only] = list
  if (list.length === 1 && only !== undefined) return depth < MAX_DEPTH && equals(only, wanted, depth + 1)
  const parts = String(wanted)
    .replace(/^\s*\[|\]\s*$/g, '')
    .split(',')
    .map(fold)
  if (parts.length !== list.length || list.length === 0) return false
  const items = list.map((item) => (typeof item === 'object' ? '' : fold(item)))
  return JSON.stringify(items.toSorted()) === JSON.stringify(parts.toSorted())
}

/** Reports whether the wanted value is part of a text, a list item, or an object's key or value. */
function contains(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.some((item) => contains(item, wanted, depth + 1))
  if (isJsonObject(value))
    return Object.entries(value).some(([key, item]) => fold(key) === fold(wanted) || equals(item, wanted))
  if (value === null) return false
  return typeof value === 'string' ? fold(value).includes(fold(wanted)) : equals(value, wanted)
}

/** Returns the value itself or a list's items, scalars only. */
const scalarsOf = (value: Json): Scalar[] =>
  (Array.isArray(value) ? value : [value]).filter((item): item is Scalar => item !== null && typeof item !== 'object')

/** Normalises a scalar for comparison: without surrounding blanks and quotes, in lower case. */
const fold = (value: Scalar): string =>
  String(value)
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .toLowerCase()

function numberOf(value: Scalar): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?\d{1,15}(\.\d{1,15})?\s*$/.test(value) ? Number(value) : null
}
