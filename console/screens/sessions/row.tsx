import { Link } from '@tanstack/react-router'
import { memo } from 'preact/compat'
import type { SessionSummary } from '../../api/types.ts'
import { Badge, StatusBadge } from '../../kit/badge.tsx'
import { formatMoney } from '../../kit/format.ts'
import { CLOUDS, MODES } from '../../kit/names.ts'
import { repositoryName, shorten, visibleText } from '../../kit/text.ts'
import { Ago } from '../../kit/time.tsx'

const LONGEST = 200

interface RowProps {
  session: SessionSummary
  showsOwner: boolean
  /** Which of its times the list is ordered by. */
  time: 'created_at' | 'updated_at'
}

/** A session as a line of the list, and as a card of two lines on a phone. */
export const Row = memo(({ session, showsOwner, time }: RowProps) => {
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
        <Link class="sessions-title" to={`/sessions/${session.uuid}` as never} preload={false}>
          {oneLine(session.first_query || 'Without a request')}
        </Link>
        <span class="sessions-where quiet small" title={visibleText(shorten(uri, 500))}>
          {oneLine(repositoryName(uri))}
          {root_path && <span class="mono"> / {oneLine(root_path)}</span>}
          {showsOwner && ` · ${oneLine(session.username ?? '')}`}
        </span>
      </span>
      <span class="sessions-mode">{MODES[session.operation] ?? session.operation}</span>
      <span class="sessions-cloud">{CLOUDS[session.provider] ?? session.provider}</span>
      <Cost usd={session.cost_usd} />
      <span class="sessions-age quiet">
        <Ago at={session[time]} />
      </span>
    </>
  )
})

const oneLine = (text: string): string => visibleText(shorten(text, LONGEST).replaceAll(/\s+/g, ' '))

function Cost({ usd }: { usd: number | null | undefined }) {
  if (usd === null || usd === undefined)
    return (
      <span class="sessions-cost quiet" title="No round has finished yet, or the price of a model is not known">
        <span aria-hidden="true">–</span>
        <span class="unseen">cost not known</span>
      </span>
    )
  return <span class="sessions-cost number">{formatMoney(usd)}</span>
}
