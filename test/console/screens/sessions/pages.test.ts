import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../../console/client/api/schemas.ts'
import { countNew, countRows, type Page, pagesOf } from '../../../../console/screens/sessions/use-session-pages.ts'

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
