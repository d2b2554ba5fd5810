import { describe, expect, it } from 'vitest'
import { activeFilters, earlier, justAfter, toQuery } from '../../../../console/screens/sessions/filters.ts'

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
