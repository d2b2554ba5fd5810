/** Any value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonObject = { [key: string]: Json }

/**
 * Recognises an object that is neither null nor a list. Only the outermost shape is checked, because everything
 * inside of what `JSON.parse` returned is JSON anyway.
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of an object, never one of the prototype: the key may come from outside and be `__proto__`. */
export const ownMember = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** The member of a value that may be of any type; undefined when it is no object or has no such key. */
export const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? ownMember(value, key) : undefined

/** The items of a list; none when the value is anything else. */
export const itemsOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** Compares two JSON values of limited depth; the order of keys does not matter. */
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
