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

/** Returns the blocks at a path such as `spec.template.spec`; at an empty path the view itself. */
export const blocksAt = (view: View, path: string): View[] =>
  path === '' ? [view] : path.split('.').reduce((views, key) => views.flatMap((each) => blocksOf(each, key)), [view])

/** Reports whether an attribute is neither set nor known only after the apply. */
export function isAbsent(view: View, key: string): boolean {
  const value = jsonAt(view, key)
  const empty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return empty && !hasMark(memberMarks(view.unknown, key))
}

/** Reports whether part of an attribute is known only after the apply. */
export const isUnknown = (view: View, key: string): boolean => hasMark(memberMarks(view.unknown, key))

/** Returns the value if it is an object, else an empty one. */
export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** Creates a view of values without marks. */
export const viewOf = (values: JsonObject): View => ({ values, unknown: undefined, sensitive: undefined })

/** A text in the values of a resource. */
export interface AttributeText {
  /** Attribute that contains the text. */
  attribute: string
  /** Its key in a map, or the `name` beside it in a list of `{name, value}`; else the attribute. */
  key: string
  text: string
  sensitive: boolean
}

const MAX_DEPTH = 40
/** Attributes that may be base64; the encoded and the decoded text are both listed. */
const ENCODED = /^(user_data|user_data_base64|custom_data|binary_data|content_base64|metadata|secret_binary)$/
const BASE64 = /^[A-Za-z0-9+/\s]{24,}(?:={1,2}\s*)?$/
const MAX_ENCODED = 100_000

/** Lists every text in the planned values; JSON documents are not parsed. */
export function stringsOf({ values, sensitive }: View): AttributeText[] {
  const texts: AttributeText[] = []
  for (const [attribute, value] of Object.entries(values))
    collect(value, memberMarks(sensitive, attribute), { attribute, key: attribute }, 0, texts)
  return texts
}

function collect(
  value: Json,
  flags: Json | undefined,
  place: Pick<AttributeText, 'attribute' | 'key'>,
  depth: number,
  texts: AttributeText[],
): void {
  if (depth > MAX_DEPTH) return
  if (typeof value === 'string') {
    const { attribute, key } = place
    texts.push({ attribute, key, text: value, sensitive: flags === true })
    const decoded = ENCODED.test(attribute) ? decodeBase64(value) : null
    if (decoded !== null) texts.push({ attribute, key, text: decoded, sensitive: flags === true })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, itemMarks(flags, index), place, depth + 1, texts)
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      // Variable lists are written `{name: "DB_PASSWORD", value: "…"}`: the name is the value's key.
      const name = key === 'value' && typeof value.name === 'string' ? value.name : key
      collect(item, memberMarks(flags, key), { ...place, key: name }, depth + 1, texts)
    }
  }
}

function decodeBase64(text: string): string | null {
  if (text.length > MAX_ENCODED || !BASE64.test(text)) return null
  try {
    return atob(text.replaceAll(/\s/g, ''))
  } catch {
    return null
  }
}
