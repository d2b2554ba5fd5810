import { Link, useRouter } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import type { RefObject } from 'preact'
import { memo, useSyncExternalStore } from 'preact/compat'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Query, SessionSummary } from '../../client/api/client.ts'
import { hasPanelRole, useMe } from '../../client/platform.ts'
import { type Address, useAddress, useAnySearch } from '../../client/use-address.ts'
import type { Options } from '../../ui/controls.tsx'
import { SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { Badge, Button, Empty, ErrorNotice, Skeleton, STATUS_NAMES, StatusBadge, Term, useNow } from '../../ui/kit.tsx'
import { Page, PanelGate } from '../../ui/page.tsx'
import { useListKeys } from '../../ui/virtual-list.tsx'
import {
  CLOUDS,
  excerpt,
  formatAgo,
  formatMoment,
  formatMoney,
  formatNumber,
  LOCK_GATES,
  MODES,
  oneLine,
  plural,
  repositoryName,
} from '../../ui/words.ts'
import { activeFilters, type FilterName, filtersOf, toQuery, type View } from './filters.ts'
import { PAGE_SIZE, useSessionPages } from './use-session-pages.ts'

/** Shows the user's own sessions and, with a role in the panel, all sessions. */
export function Screen() {
  const me = useMe()
  const view: View = useAnySearch().view === 'all' ? 'all' : 'mine'
  const mayAll = hasPanelRole(me.data, 'viewer')
  return (
    <Page
      wide
      title="Sessions"
      lead={
        <>
          Each <Term name="session" /> is a conversation about one folder of a repository.
        </>
      }
      actions={
        <Link class="button button-primary" to="/">
          New request
        </Link>
      }
    >
      {(mayAll || view === 'all') && <Views />}
      {view === 'all' ? (
        <PanelGate needs="viewer" purpose="see all sessions">
          <Filtered view={view} />
        </PanelGate>
      ) : (
        <Filtered view={view} />
      )}
    </Page>
  )
}

const Views = () => (
  <nav class="tabs" aria-label="Whose sessions">
    {(['mine', 'all'] as const).map((each) => (
      <Link
        key={each}
        to="/sessions"
        search={{ view: each === 'all' ? 'all' : undefined }}
        class="tab"
        activeOptions={{ includeSearch: true, explicitUndefined: true }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {each === 'all' ? 'All users' : 'Mine'}
      </Link>
    ))}
  </nav>
)

function Filtered({ view }: { view: View }) {
  const address = useAddress()
  const clear = () => address.change(Object.fromEntries(filtersOf(view).map((name) => [name, ''])))
  return (
    <>
      <FilterBar view={view} address={address} clear={clear} />
      <SessionList
        view={view}
        query={toQuery(address.read, view)}
        isFiltered={activeFilters(address.read, view).length > 0}
        clear={clear}
      />
    </>
  )
}

const MORE: readonly FilterName[] = ['operation', 'locked', 'repo_uri', 'created_after', 'created_before', 'user_email']

const MODE_OPTIONS: Options = Object.entries(MODES)
const LOCK_OPTIONS: Options = [
  ['true', 'Locked'],
  ['false', 'Not locked'],
]

/** Shows every filter of the API. A selection reaches the address at once, typed text after a delay. */
function FilterBar({ view, address, clear }: { view: View; address: Address; clear: () => void }) {
  const active = activeFilters(address.read, view)
  const count = active.length
  const more = active.filter((name) => MORE.includes(name)).length
  return (
    <search class="sessions-filters">
      <div class="sessions-fields">
        <TextFilter address={address} name="search" label="Search" type="search" hint="Request, repository or id" />
        <SelectFilter address={address} name="status" label="Status" options={Object.entries(STATUS_NAMES)} />
        <SelectFilter address={address} name="mode" label="Last round" options={MODE_OPTIONS} />
        <SelectFilter address={address} name="cloud" label="Cloud" options={Object.entries(CLOUDS)} />
        <SelectFilter
          address={address}
          name="sort"
          label="Order"
          options={[['last_activity', 'Last active']]}
          all="Newest"
        />
      </div>
      <details open={more > 0 || undefined}>
        <summary>More filters{more > 0 && ` (${more})`}</summary>
        <div class="sessions-fields">
          <SelectFilter address={address} name="operation" label="First round" options={MODE_OPTIONS.slice(0, 3)} />
          <SelectFilter address={address} name="locked" label="Lock" options={LOCK_OPTIONS} />
          <TextFilter address={address} name="repo_uri" label="Repository" type="url" hint="Its full address" />
          <TextFilter address={address} name="created_after" label="Created from" type="date" />
          <TextFilter address={address} name="created_before" label="Created before" type="date" />
          {view === 'all' && (
            <TextFilter address={address} name="user_email" label="Owner" type="text" hint="Part of the e-mail" />
          )}
        </div>
      </details>
      {count > 0 && (
        <Button small kind="quiet" onClick={clear}>
          Clear {count === 1 ? 'the filter' : `all ${count} filters`}
        </Button>
      )}
    </search>
  )
}

/** The number of rows drawn beyond the visible ones, so that a fast scroll shows no gap. */
const OVERSCAN = 10
const STEP = 25
const roundDown = (index: number) => index - (index % STEP)
/** The height of the bar above the page, which covers rows. */
const BAR_PX = 60

interface ListProps {
  view: View
  query: Query
  isFiltered: boolean
  clear: () => void
}

/** Shows all matching sessions. The page scrolls, and only the visible rows are drawn and read. */
function SessionList({ view, query, isFiltered, clear }: ListProps) {
  const list = useRef<HTMLUListElement>(null)
  const height = useRowHeight()
  const now = useNow(30_000)
  const opener = useOpener()
  const [range, setRange] = useState({ first: 0, last: 30 })
  const [isUsed, setUsed] = useState(false)
  const isAway = range.first > 0
  const pages = useSessionPages({ view, query, ...range, isHeld: isAway || isUsed })
  const total = pages.total ?? 0
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count: total,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: list.current?.offsetTop ?? 0,
    scrollPaddingStart: BAR_PX,
    getItemKey: (index) => `${Math.floor(index / PAGE_SIZE)}-${pages.row(index)?.uuid ?? index}`,
  })
  useEffect(() => virtual.measure(), [height])
  // In steps, because only the visible pages matter and every change draws the list again.
  const first = Math.min(virtual.range?.startIndex ?? 0, 1) + roundDown(virtual.range?.startIndex ?? 0)
  const last = roundDown(virtual.range?.endIndex ?? 0) + STEP
  useEffect(() => setRange({ first, last }), [first, last])
  const keys = useListKeys(list, total, 'a', (index) => virtual.scrollToIndex(index, { align: 'auto' }))
  useEntryKey(list)
  if (pages.error && pages.total === null)
    return <ErrorNotice error={pages.error} title="The sessions could not be loaded" retry={pages.retry} />
  if (pages.total === null) return <Skeleton lines={12} />
  if (total === 0 && !pages.isOld) return <Nothing view={view} isFiltered={isFiltered} clear={clear} />
  const isNewest = query.sort !== 'last_activity'
  const time = isNewest ? 'created_at' : 'updated_at'
  return (
    <section class="sessions-all" aria-label="Sessions" aria-busy={pages.isOld}>
      <div class="sessions-count small quiet">
        <span role="status">{plural(total, 'session')}</span>
        <span class="sessions-hint">
          <kbd class="mono">j</kbd> <kbd class="mono">k</kbd> to move, Enter to open
        </span>
      </div>
      {pages.news !== 0 && (
        // New rows are not inserted until the reader asks, so that nothing moves meanwhile.
        <p class="sessions-news" role="status">
          <Button small kind="primary" onClick={() => scrollTo({ top: 0 })}>
            {pages.news !== null && isNewest ? plural(pages.news, 'new session') : 'The order has changed'}: go to the
            top
          </Button>
        </p>
      )}
      {pages.error !== null && <ErrorNotice error={pages.error} title="The list is out of date" retry={pages.retry} />}
      <div class="sessions-row sessions-head small quiet" aria-hidden="true">
        <span>Status</span>
        <span>Request</span>
        <span>Mode</span>
        <span>Cloud</span>
        <span class="sessions-cost">Cost</span>
        <span class="sessions-age">{isNewest ? 'Created' : 'Active'}</span>
      </div>
      <ul
        ref={list}
        class="sessions-list"
        style={{ height: `${virtual.getTotalSize()}px` }}
        onKeyDown={keys.onKeyDown}
        onPointerEnter={({ pointerType }) => pointerType === 'mouse' && setUsed(true)}
        onPointerLeave={() => setUsed(false)}
      >
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const session = pages.row(index)
          return (
            <li
              key={String(key)}
              data-index={index}
              aria-setsize={total}
              aria-posinset={index + 1}
              class="sessions-row"
              style={{ height: `${height}px`, transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
            >
              {session ? (
                <Row session={session} showsOwner={view === 'all'} time={time} now={now} {...opener} />
              ) : (
                <span class="sessions-blank">
                  <span class="skeleton-line" />
                  <span class="unseen">Loading session {formatNumber(index + 1)}</span>
                </span>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Shows an empty list: either nothing matches, or there are no sessions. */
function Nothing({ view, isFiltered, clear }: { view: View; isFiltered: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No session matches" actions={<Button onClick={clear}>Clear filters</Button>}>
        {view === 'all' ? 'No session' : 'None of your sessions'} matches these filters.
      </Empty>
    )
  return (
    <Empty
      title={view === 'all' ? 'There are no sessions yet' : 'You have no sessions yet'}
      actions={
        <Link class="button button-primary" to="/">
          New request
        </Link>
      }
    >
      Describe a change of a repository in a sentence. The request opens a session, which is listed here.
    </Empty>
  )
}

/** Returns the parts of a plain link to a session. Clicks for another tab are left to the browser. */
function useOpener() {
  const router = useRouter()
  return useMemo(
    () => ({
      hrefOf: (uuid: string) => `${router.basepath}/sessions/${uuid}`,
      open: (event: MouseEvent, uuid: string) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return
        event.preventDefault()
        void router.navigate({ to: `/sessions/${uuid}` })
      },
    }),
    [router],
  )
}

/** Returns the height of all rows in pixels, from which the positions in a list of any length follow. */
const useRowHeight = (): number => useSyncExternalStore(onResize, rowHeight)

function onResize(look: () => void) {
  addEventListener('resize', look)
  return () => removeEventListener('resize', look)
}

/** Cards on a phone are higher than rows; both are given in rem. */
const rowHeight = () =>
  Math.round(
    (matchMedia('(max-width: 52rem)').matches ? 5.75 : 3.75) *
      Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  )

interface RowProps {
  session: SessionSummary
  showsOwner: boolean
  /** The time by which the list is ordered. */
  time: 'created_at' | 'updated_at'
  now: number
  /** Returns the address of a session's page. */
  hrefOf: (uuid: string) => string
  open: (event: MouseEvent, uuid: string) => void
}

/** Shows a session as a row or a card. A plain link and a shared clock keep scrolling smooth with many rows. */
const Row = memo(({ session, showsOwner, time, now, hrefOf, open }: RowProps) => {
  const { uri, root_path } = session.workspace
  return (
    <>
      <span class="sessions-state">
        <StatusBadge status={session.current_status} />
        {session.is_blocked && (
          <span class="sessions-lock" title={session.lock ? sayLock(session.lock) : undefined}>
            <Badge tone="bad">Locked</Badge>
          </span>
        )}
      </span>
      <span class="sessions-what">
        <a class="sessions-title" href={hrefOf(session.uuid)} onClick={(event) => open(event, session.uuid)}>
          {oneLine(session.first_query || 'Without a request')}
        </a>
        <span class="sessions-where quiet small" title={excerpt(uri, 500)}>
          {oneLine(repositoryName(uri))}
          {root_path && <span class="mono"> / {oneLine(root_path)}</span>}
          {showsOwner && ` · ${oneLine(session.username ?? '')}`}
          {session.lock && ` · ${sayLock(session.lock)}`}
        </span>
      </span>
      <span class="sessions-mode">{MODES[session.operation] ?? session.operation}</span>
      <span class="sessions-cloud">{CLOUDS[session.provider] ?? session.provider}</span>
      <Cost usd={session.cost_usd} />
      <time class="sessions-age quiet" dateTime={session[time]} title={formatMoment(session[time])}>
        {formatAgo(session[time], now)}
      </time>
    </>
  )
})

const sayLock = ({ reasons }: NonNullable<SessionSummary['lock']>): string =>
  reasons.map(({ gate, what }) => (what ? `${LOCK_GATES[gate]}: ${oneLine(what)}` : LOCK_GATES[gate])).join(' ')

function Cost({ usd }: { usd: number | null | undefined }) {
  if (usd === null || usd === undefined)
    return (
      <span class="sessions-cost quiet" title="No round has finished yet, or the price of a model is unknown">
        <span aria-hidden="true">–</span>
        <span class="unseen">cost unknown</span>
      </span>
    )
  return <span class="sessions-cost number">{formatMoney(usd)}</span>
}

/** Enters a list with `j` while nothing has the focus. */
function useEntryKey(list: RefObject<HTMLUListElement | null>): void {
  useEffect(() => {
    const enter = (event: KeyboardEvent) => {
      if (event.key !== 'j' || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.activeElement !== document.body && document.activeElement?.tagName !== 'H1') return
      list.current?.querySelector<HTMLElement>('[data-index="0"] a')?.focus()
    }
    addEventListener('keydown', enter)
    return () => removeEventListener('keydown', enter)
  }, [])
}
