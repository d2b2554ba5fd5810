/** Any value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonObject = { [key: string]: Json }

/** True if the value is an object, not null or a list. Its members are not checked: `JSON.parse` returns only JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an object's own member, never one of the prototype: the key may come from outside and be `__proto__`. */
export const ownMember = <Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Returns a member of a value; undefined when the value is no object or lacks the key. */
export const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? ownMember(value, key) : undefined

/** Returns the items of a list; none for any other value. */
export const itemsOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** Compares two JSON values of limited depth, ignoring the order of keys. */
export function isEqualJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqualJson(item, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]))
  )
}

/** Parses a JSON text; undefined for any other text. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a quoted text as JSON writes it; null for any other text. */
export function parseQuoted(text: string): string | null {
  const value = parseJson(text)
  return typeof value === 'string' ? value : null
}
