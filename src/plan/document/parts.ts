import type { Json } from '../../base/json.ts'

/** A value with the marks of its sensitive and of its unknown parts. */
export interface Part {
  value: Json
  sensitive: Json | undefined
  unknown: Json | undefined
}
