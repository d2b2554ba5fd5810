/** Any value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonObject = { [key: string]: Json }

/** Whether a value that came from `JSON.parse` is an object: neither null nor a list. Its members are not checked. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
