import { isJsonObject, type Json, type JsonObject, ownMember } from '../base/json.ts'
import { hasMark, itemMarks, memberMarks } from '../plan/value-marks.ts'
import type { View } from './rule.ts'

// Readers of planned values; a missing, null, unknown or unexpected value counts as no value.

/** Returns an attribute's raw value; null when there is none. */
export const jsonAt = ({ values }: View, key: string): Json => ownMember(values, key) ?? null

/** Returns a text attribute; null for any other. */
export function textOf(view: View, key: string): string | null {
  const value = jsonAt(view, key)
  return typeof value === 'string' ? value : null
}

/** Returns a number attribute, or an integer text as a number; null for any other. */
export function numberOf(view: View, key: string): number | null {
  const value = jsonAt(view, key)
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : null
}

/** Returns a boolean attribute, or the text of one as a boolean; null for any other. */
export function flagOf(view: View, key: string): boolean | null {
  const value = jsonAt(view, key)
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : null
}

/** Returns the texts of a list attribute, or a single text as a list. */
export function textsOf(view: View, key: string): string[] {
  const value = jsonAt(view, key)
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string')
}

/** Returns nested blocks: the objects of a list, or a single object. */
export function blocksOf(view: View, key: string): View[] {
  const value = jsonAt(view, key)
  const unknown = memberMarks(view.unknown, key)
  const sensitive = memberMarks(view.sensitive, key)
  if (isJsonObject(value)) return [{ values: value, unknown, sensitive }]
  if (!Array.isArray(value)) return []
  return value.flatMap((item, index) =>
    isJsonObject(item)
      ? [{ values: item, unknown: itemMarks(unknown, index), sensitive: itemMarks(sensitive, index) }]
      : [],
  )
}

/** Returns the blocks at a path such as `spec.template.spec`. */
export const blocksAt = (view: View, path: string): View[] =>
  path.split('.').reduce<View[]>((views, key) => views.flatMap((each) => blocksOf(each, key)), [view])

/** Reports whether an attribute is neither set nor known only after the apply. */
export function isAbsent(view: View, key: string): boolean {
  const value = jsonAt(view, key)
  const empty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return empty && !hasMark(memberMarks(view.unknown, key))
}

/** Reports whether part of an attribute is known only after the apply. */
export const isUnknown = (view: View, key: string): boolean => hasMark(memberMarks(view.unknown, key))

/** Creates a view of values without marks. */
export const viewOf = (values: JsonObject): View => ({ values, unknown: undefined, sensitive: undefined })
