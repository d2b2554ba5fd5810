import { isJsonObject, type Json } from '../../base/json.ts'
/** Longest text of a value, in UTF-16 units; longer texts are cut. */
export const MAX_TEXT = 4_000
/** Longest key in a path, in UTF-16 units. */
export const MAX_KEY = 300
/** Most values within one value that is shown as a whole. */
export const MAX_VALUES = 200
export const MAX_ATTRIBUTES = 1_000
/** Deepest nesting that is compared. */
export const MAX_DEPTH = 50
export const MAX_DEPENDENCIES = 100
/** Deepest nesting of module calls in which dependencies are traced. */
export const MAX_MODULE_DEPTH = 20
/** Most entries of a short list. */
export const MAX_BRIEF = 1_000
export const MAX_DRIFT_PATHS = 20
/** Largest document in bytes, as far as attributes contribute to it. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024

/**
 * Replaces parts of a value that are nested deeper than `MAX_DEPTH`, so that recursion cannot overflow the stack.
 * `clipped` is true if there were some.
 */
export function clipDepth(value: Json, substitute: Json): { value: Json; clipped: boolean } {
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
