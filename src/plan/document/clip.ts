import { isJsonObject, type Json } from '../../base/json.ts'
import { MAX_DEPTH } from './limits.ts'

/** A value whose parts are nested no deeper than `MAX_DEPTH`. */
export interface Clipped {
  value: Json
  /** Whether something deeper was taken away. */
  clipped: boolean
}

/**
 * Replaces the parts of a value that are nested too deep, so that it can be walked through without an overflow of the
 * stack. A value that is not too deep is answered as it is.
 * @param substitute what stands in the place of such a part
 */
export function clipDepth(value: Json, substitute: Json): Clipped {
  return isDeep(value, 0) ? { value: clip(value, substitute, 0), clipped: true } : { value, clipped: false }
}

function isDeep(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth >= MAX_DEPTH) return true
  const parts = Array.isArray(value) ? value : Object.values(value)
  return parts.some((part) => isDeep(part, depth + 1))
}

function clip(value: Json, substitute: Json, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return substitute
  if (Array.isArray(value)) return value.map((item) => clip(item, substitute, depth + 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clip(item, substitute, depth + 1)]))
}
