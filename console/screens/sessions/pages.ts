import type { SessionSummary } from '../../client/api/types.ts'

export const PAGE_SIZE = 100

export interface Page {
  items: SessionSummary[]
  total: number
}

/** The numbers of the pages behind the first that hold the rows from `first` to `last`. */
export function pagesOf(first: number, last: number): number[] {
  const from = Math.max(2, Math.floor(Math.max(0, first) / PAGE_SIZE) + 1)
  const to = Math.floor(Math.max(0, last) / PAGE_SIZE) + 1
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/**
 * How many rows there are. Sessions that no longer match leave the list while it is read, which a page that is not
 * full tells.
 */
export function countRows(first: Page, others: ReadonlyMap<number, Page>): number {
  let total = first.total
  for (const [number, { items }] of others)
    if (items.length < PAGE_SIZE) total = Math.min(total, (number - 1) * PAGE_SIZE + items.length)
  return Math.max(total, Math.min(first.total, first.items.length))
}

/** How many rows came before the first one of the list that is shown; null when it is not on the page any more. */
export function countNew(shown: Page, newest: Page): number | null {
  const first = shown.items[0]
  if (!first) return newest.total
  const at = newest.items.findIndex(({ uuid }) => uuid === first.uuid)
  return at === -1 ? null : at
}
