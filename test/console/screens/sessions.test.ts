import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../console/client/api/client.ts'
import { activeFilters, earlier, justAfter, toQuery } from '../../../console/screens/sessions/filters.ts'
import { countNew, countRows, type Page, pagesOf } from '../../../console/screens/sessions/use-session-pages.ts'

const reading = (address: Record<string, string>) => (name: string) => address[name] ?? ''

describe('toQuery', () => {
  it('takes what the address names, and nothing blank', () => {
    expect(toQuery(reading({ search: ' bucket ', status: '', sort: 'last_activity', page: '3' }), 'mine')).toEqual({
      search: 'bucket',
      sort: 'last_activity',
    })
  })

  it('asks for an owner only where everybody is listed', () => {
    const read = reading({ user_email: 'ada', view: 'all' })
    expect(toQuery(read, 'all')).toEqual({ user_email: 'ada' })
    expect(toQuery(read, 'mine')).toEqual({})
    expect([activeFilters(read, 'all'), activeFilters(read, 'mine')]).toEqual([['user_email'], []])
  })

  it('reads a day as its beginning where the reader is, and leaves everything else to the API', () => {
    const query = toQuery(reading({ created_after: '2026-03-01', created_before: 'yesterday' }), 'mine')
    expect(query.created_after).toBe(new Date(2026, 2, 1).toISOString())
    expect(query.created_before).toBe('yesterday')
    expect(toQuery(reading({ created_after: '2026-13-99' }), 'mine').created_after).toBe('2026-13-99')
  })
})

describe('justAfter', () => {
  it.each([
    ['2026-03-01T14:25:30.123456Z', '2026-03-01T14:25:30.123457Z'],
    ['2026-03-01T14:25:30.000009Z', '2026-03-01T14:25:30.000010Z'],
    ['2026-12-31T23:59:59.999999Z', '2027-01-01T00:00:00.000000Z'],
    ['2026-03-01', '2026-03-01'],
  ])('%s', (at, after) => expect(justAfter(at)).toBe(after))
})

it('earlier', () => {
  expect(earlier('2026-03-02T00:00:00Z', '2026-03-01T00:00:00Z')).toBe('2026-03-01T00:00:00Z')
  expect(earlier('2026-03-02T00:00:00Z', undefined)).toBe('2026-03-02T00:00:00Z')
  expect(earlier('2026-03-02T00:00:00Z', 'nonsense')).toBe('2026-03-02T00:00:00Z')
})

const page = (total: number, ...uuids: string[]): Page => ({
  total,
  items: uuids.map((uuid) => ({ uuid }) as SessionSummary),
})
const full = (total: number) => page(total, ...Array.from({ length: 100 }, (_, index) => String(index)))

describe('pagesOf', () => {
  it.each([
    [0, 30, []],
    [90, 99, []],
    [90, 100, [2]],
    [150, 320, [2, 3, 4]],
    [0, -1, []],
  ])('%i to %i', (first, last, pages) => expect(pagesOf(first, last)).toEqual(pages))
})

describe('countRows', () => {
  it('is what the first page says, as long as the others are full', () => {
    expect(countRows(full(250), new Map([[2, full(250)]]))).toBe(250)
  })
  it('is less when sessions have left the list since', () => {
    expect(countRows(full(250), new Map([[3, page(240, 'a', 'b')]]))).toBe(202)
    expect(countRows(full(250), new Map([[2, page(99)]]))).toBe(100)
  })
})

describe('countNew', () => {
  it.each([
    [page(2, 'a', 'b'), page(2, 'a', 'b'), 0],
    [page(2, 'a', 'b'), page(4, 'd', 'c', 'a'), 2],
    [page(2, 'a'), page(300, 'x'), null],
    [page(0), page(1, 'x'), 1],
  ])('%#', (shown, newest, count) => expect(countNew(shown, newest)).toBe(count))
})
