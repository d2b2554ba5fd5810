/** A document as it came: nothing is taken for granted about what a model has written into it. */
export type Unknown = Record<string, unknown>

export const objectOf = (value: unknown): Unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unknown) : {}
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const oneOf = <Value extends string>(values: readonly Value[], value: unknown, other: Value): Value =>
  values.find((candidate) => candidate === value) ?? other
