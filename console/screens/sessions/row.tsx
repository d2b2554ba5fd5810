import type { RefObject } from 'preact'
import { memo } from 'preact/compat'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionSummary } from '../../client/api/schemas.ts'
import { Badge, StatusBadge } from '../../ui/badge.tsx'
import {
  CLOUDS,
  excerpt,
  formatAgo,
  formatMoment,
  formatMoney,
  MODES,
  oneLine,
  repositoryName,
} from '../../ui/words.ts'

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
export const Row = memo(({ session, showsOwner, time, now, hrefOf, open }: RowProps) => {
  const { uri, root_path } = session.workspace
  return (
    <>
      <span class="sessions-state">
        <StatusBadge status={session.current_status} />
        {session.is_blocked && (
          <span class="sessions-lock">
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

const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

/** Moves the focus between rows with j, k, the arrows, Home and End. `j` also enters an unfocused list. */
export function useRowKeys(list: RefObject<HTMLUListElement | null>, total: number, scrollTo: (index: number) => void) {
  const wanted = useRef<number | null>(null)
  const focus = () => {
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`)
    if (wanted.current === null || !link) return
    wanted.current = null
    link.focus({ preventScroll: true })
  }
  // After every drawing, because the row is drawn later.
  useEffect(focus)
  const move = (index: number) => {
    wanted.current = Math.max(0, Math.min(total - 1, index))
    scrollTo(wanted.current)
    focus()
  }
  useEffect(() => {
    const enter = (event: KeyboardEvent) => {
      if (event.key !== 'j' || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.activeElement !== document.body && document.activeElement?.tagName !== 'H1') return
      list.current?.querySelector<HTMLElement>('[data-index="0"] a')?.focus()
    }
    addEventListener('keydown', enter)
    return () => removeEventListener('keydown', enter)
  }, [])
  return (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const at = Number(row.dataset.index)
    const step = STEPS[event.key]
    const to = step !== undefined ? at + step : { Home: 0, End: total - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(to)
  }
}
