import { isJsonObject, type Json, type JsonObject, ownMember } from '../base/json.ts'
import { hasMark, itemMarks, memberMarks } from '../plan/value-marks.ts'
import type { View } from './rule.ts'

// These functions read planned values. Any of them may be missing, null, unknown or of another type than expected; the
// answer then is that there is no value.

/** The value of an attribute as it is; null when there is none. */
export const jsonAt = ({ values }: View, key: string): Json => ownMember(values, key) ?? null

/** The value of an attribute that is a text; null for any other. */
export function textOf(view: View, key: string): string | null {
  const value = jsonAt(view, key)
  return typeof value === 'string' ? value : null
}

/** The value of an attribute that is a number or the text of an integer; null for any other. */
export function numberOf(view: View, key: string): number | null {
  const value = jsonAt(view, key)
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : null
}

/** The value of an attribute that is a boolean, or the text of one; null for any other. */
export function flagOf(view: View, key: string): boolean | null {
  const value = jsonAt(view, key)
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : null
}

/** The texts in an attribute that is a list, or the one text that it is. */
export function textsOf(view: View, key: string): string[] {
  const value = jsonAt(view, key)
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string')
}

/** Nested blocks: the objects in a list, or the one object that an attribute is. */
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

/** Blocks at a path such as `spec.template.spec`. */
export const blocksAt = (view: View, path: string): View[] =>
  path.split('.').reduce<View[]>((views, key) => views.flatMap((each) => blocksOf(each, key)), [view])

/** Reports whether an attribute is not set and will not get a value that only the apply knows. */
export function isAbsent(view: View, key: string): boolean {
  const value = jsonAt(view, key)
  const empty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return empty && !hasMark(memberMarks(view.unknown, key))
}

/** Reports whether an attribute, or a part of it, is known only after the apply. */
export const isUnknown = (view: View, key: string): boolean => hasMark(memberMarks(view.unknown, key))

/** A view of values without marks. */
export const viewOf = (values: JsonObject): View => ({ values, unknown: undefined, sensitive: undefined })
