import { Link } from '@tanstack/react-router'
import type { SessionSummary } from '../../client/api/schemas.ts'
import type { useRecentSessions } from '../../client/sessions/use-session.ts'
import { Badge, StatusBadge } from '../../ui/badge.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Ago } from '../../ui/time.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'

const SHOWN = 4

/** Shows the caller's last active sessions. */
export function Recent({ recent }: { recent: ReturnType<typeof useRecentSessions> }) {
  const { data, error, refetch } = recent
  if (data?.length === 0) return null
  return (
    <section class="start-recent" aria-labelledby="start-recent">
      <h2 id="start-recent">Your recent sessions</h2>
      {error && <ErrorNotice error={error} title="Your sessions could not be read" retry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={SHOWN} label="Loading your sessions" />}
      {data && (
        <ul class="card">
          {data.slice(0, SHOWN).map((session) => (
            <Row key={session.uuid} session={session} />
          ))}
        </ul>
      )}
      <p>
        <Link to="/sessions">All sessions</Link>
      </p>
    </section>
  )
}

const Row = ({ session }: { session: SessionSummary }) => (
  <li class="start-row">
    <SessionLink id={session.uuid}>
      <bdi>{shorten(visibleText(session.first_query?.trim() || 'Session without a request'), 160)}</bdi>
    </SessionLink>
    <span class="start-facts small quiet">
      <span>{visibleText(repositoryName(session.workspace.uri))}</span>
      <Ago at={session.updated_at} />
      {session.is_blocked && <Badge tone="bad">Locked</Badge>}
      <StatusBadge status={session.current_status} />
    </span>
  </li>
)
