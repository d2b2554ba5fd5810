import { ExactNumber } from '../../src/base/json.ts'

/** Numbers with digits that a double would change, and JSON texts that hold them. */
export { ExactNumber, parseJson } from '../../src/base/json.ts'

/** Readers of documents whose form is not guaranteed, for example because a model wrote them. */

export type Fields = Record<string, unknown>

export const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
    ? (value as Fields)
    : {}
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): Fields[] => listOf(value).map(objectOf)
/** Returns the texts of a list, without blank ones. */
export const textsOf = (value: unknown): string[] => listOf(value).map(textOf).filter(Boolean)
export const oneOf = <Value extends string>(values: readonly Value[], value: unknown, other: Value): Value =>
  values.find((candidate) => candidate === value) ?? other

const STATUSES = ['Succeeded', 'Partial', 'Failed'] as const
/** Returns the status of a report about drift or an import; undefined for any other document. */
export const statusOf = ({ status }: Fields) => STATUSES.find((known) => known === status)
