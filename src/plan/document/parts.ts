import { isJsonObject, type Json } from '../../base/json.ts'

/** A value with the marks of its sensitive and of its unknown parts. */
export interface Part {
  value: Json
  sensitive: Json | undefined
  unknown: Json | undefined
}

/** Whether two JSON values of limited depth are equal; the order of keys does not matter. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
}
