import { keepPreviousData, useQueries, useQuery } from '@tanstack/preact-query'
import { useMemo, useRef } from 'preact/hooks'
import { type Api, calls, type Query, type SessionSummary } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { earlier, justAfter, type View } from './filters.ts'

const WHILE_RUNNING_MS = 5_000

interface Options {
  view: View
  query: Query
  /** The first and last rows that are drawn. */
  first: number
  last: number
  /** True while the order of the list must not change, because its reader has scrolled. */
  isHeld: boolean
}

const ask = (api: Api, view: View, query: Query, signal: AbortSignal) =>
  (view === 'all' ? calls.listAllSessions : calls.listSessions)(api, {
    query: { ...query, include_cost: true, page_size: PAGE_SIZE },
    signal,
  })

/**
 * Reads the visible pages of a list of sessions. The first page is polled, and updates a session wherever it is in the
 * list. Its order applies only while the list is not held.
 */
export function useSessionPages({ view, query, first, last, isHeld }: Options) {
  const { api } = usePlatform()
  const key = JSON.stringify([view, query])
  const head = useQuery({
    queryKey: ['sessions', view, query, 'first'],
    queryFn: ({ signal }) => ask(api, view, query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (hasRunning(state.data) ? WHILE_RUNNING_MS : 20_000),
  })
  const kept = useRef<{ key: string; page: Page } | null>(null)
  if (head.data && !head.isPlaceholderData && (kept.current?.key !== key || !isHeld))
    kept.current = { key, page: head.data }
  const shown = kept.current?.page ?? null
  const newest = shown?.items[0]?.created_at
  // After the first page the list ends where it ended when it was opened, so that new sessions move nothing.
  const until = newest !== undefined && query.sort !== 'last_activity' ? justAfter(newest) : null
  const behind: Query = until === null ? query : { ...query, created_before: earlier(until, query.created_before) }
  const numbers = shown ? pagesOf(first, Math.min(last, shown.total - 1)) : []
  const others = useQueries({
    queries: numbers.map((page) => ({
      queryKey: ['sessions', view, behind, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => ask(api, view, { ...behind, page }, signal),
      refetchInterval: ({ state }: { state: { data?: Page | undefined } }) =>
        hasRunning(state.data) ? WHILE_RUNNING_MS : false,
    })),
  })
  const pages = new Map<number, Page>()
  for (const [at, { data }] of others.entries()) if (data) pages.set(numbers[at] ?? 0, data)
  const fresh = useMemo(() => new Map(head.data?.items.map((item) => [item.uuid, item])), [head.data])
  return {
    /** The number of rows; null until the first page is loaded. */
    total: shown && countRows(shown, pages),
    /** Returns a row; undefined while its page is loading. */
    row: (index: number): SessionSummary | undefined => {
      const number = Math.floor(index / PAGE_SIZE) + 1
      const page = number === 1 ? shown : pages.get(number)
      const item = page?.items[index % PAGE_SIZE]
      return item && (fresh.get(item.uuid) ?? item)
    },
    /** The number of new rows above the shown list; null when other rows changed too. */
    news: shown && head.data && !head.isPlaceholderData ? countNew(shown, head.data) : 0,
    /** True while the rows belong to the previous filters. */
    isOld: head.isPlaceholderData,
    error: head.error ?? others.find(({ error }) => error)?.error ?? null,
    retry: () => {
      void head.refetch()
      for (const other of others) if (other.error) void other.refetch()
    },
  }
}

const hasRunning = (page: Page | undefined): boolean => page?.items.some(({ in_flight }) => in_flight) ?? false

export const PAGE_SIZE = 100

export interface Page {
  items: SessionSummary[]
  total: number
}

/** Returns the numbers of the pages after the first that contain the rows from `first` to `last`. */
export function pagesOf(first: number, last: number): number[] {
  const from = Math.max(2, Math.floor(Math.max(0, first) / PAGE_SIZE) + 1)
  const to = Math.floor(Math.max(0, last) / PAGE_SIZE) + 1
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/** Returns the number of rows. A page that is not full shows that sessions left the list while it was read. */
export function countRows(first: Page, others: ReadonlyMap<number, Page>): number {
  let total = first.total
  for (const [number, { items }] of others)
    if (items.length < PAGE_SIZE) total = Math.min(total, (number - 1) * PAGE_SIZE + items.length)
  return Math.max(total, Math.min(first.total, first.items.length))
}

/** Returns the number of new rows before the first shown one; null when that is no longer on the page. */
export function countNew(shown: Page, newest: Page): number | null {
  const first = shown.items[0]
  if (!first) return newest.total
  const at = newest.items.findIndex(({ uuid }) => uuid === first.uuid)
  return at === -1 ? null : at
}
