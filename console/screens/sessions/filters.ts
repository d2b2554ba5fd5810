import type { Query } from '../../client/api/client.ts'

/** The filters of the lists of sessions, by their names in the API and in the address. */
const FILTERS = [
  'search',
  'status',
  'mode',
  'operation',
  'cloud',
  'repo_uri',
  'locked',
  'created_after',
  'created_before',
] as const

export type View = 'mine' | 'all'
export type FilterName = (typeof FILTERS)[number] | 'user_email'

/** Returns the filters of a list; only that of all sessions has the owner. */
export const filtersOf = (view: View): readonly FilterName[] => (view === 'all' ? [...FILTERS, 'user_email'] : FILTERS)

type Read = (name: FilterName | 'sort') => string

/** Returns the API query for the filters of an address. Dates in the address are in the reader's time zone. */
export function toQuery(read: Read, view: View): Query {
  const filters = filtersOf(view).map((name) => [name, toFilter(name, read(name).trim())] as const)
  const sort = read('sort')
  return Object.fromEntries([...filters, ['sort', sort]].filter(([, value]) => value !== ''))
}

/** Returns the filters that the address sets, without the order. */
export const activeFilters = (read: Read, view: View) => filtersOf(view).filter((name) => read(name).trim() !== '')

const DAY = /^\d{4}-\d\d-\d\d$/

function toFilter(name: FilterName, value: string): string {
  if ((name !== 'created_after' && name !== 'created_before') || !DAY.test(value)) return value
  const at = new Date(`${value}T00:00:00`)
  return Number.isNaN(at.getTime()) ? value : at.toISOString()
}

/**
 * Returns the time one microsecond after a timestamp of the API (`2026-03-01T14:25:30.123456Z`), so that a list that ends
 * before it still has what was created then. One of another form is returned unchanged.
 */
export function justAfter(timestamp: string): string {
  const [, second, fraction] = /^(.*)\.(\d{6})Z$/.exec(timestamp) ?? []
  if (second === undefined || fraction === undefined) return timestamp
  if (fraction !== '999999') return `${second}.${String(Number(fraction) + 1).padStart(6, '0')}Z`
  return `${new Date(Date.parse(`${second}Z`) + 1_000).toISOString().slice(0, 19)}.000000Z`
}

/** Returns the earlier of two times in RFC 3339; the first if there is no second. */
export const earlier = (one: string, other: unknown): string =>
  typeof other === 'string' && Date.parse(other) < Date.parse(one) ? other : one
