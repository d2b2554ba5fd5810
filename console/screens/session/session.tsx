import { Link, Outlet, useParams } from '@tanstack/react-router'
import type { Session } from '../../client/api/types.ts'
import { useLiveSession } from '../../client/sessions/use-live-session.ts'
import { useSession } from '../../client/sessions/use-session.ts'
import { useEndNotification } from '../../client/use-end-notification.ts'
import { Badge, StatusBadge } from '../../ui/badge.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Skeleton } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Unreadable } from '../../ui/shell/errors.tsx'
import { Ago } from '../../ui/time/time.tsx'
import { formatMoney, formatNumber, plural } from '../../ui/words/format.ts'
import { repositoryName, shorten, visibleText } from '../../ui/words/text.ts'
import { SessionProvider } from './context.ts'
import { totalsOf } from './next-step.ts'
import { NextStepBar } from './next-step-bar.tsx'

/** The frame of a session: what it is about, its state, and the parts of it. */
export function Screen() {
  const { sessionId } = useParams({ strict: false }) as { sessionId: string }
  const read = useSession(sessionId)
  const session = read.data?.session
  const { live } = useLiveSession(sessionId, session?.in_flight ?? false)
  useEndNotification(session)
  if (!session || !read.data)
    return (
      // The lines that come later have their room already, so that the heading does not move.
      <Page wide title="Session" kicker={<>&nbsp;</>} lead={<>&nbsp;</>}>
        {read.error ? (
          <Unreadable error={read.error} what="session" retry={() => void read.refetch()} />
        ) : (
          <Skeleton lines={8} />
        )}
      </Page>
    )
  return (
    <Page
      wide
      title={shorten(visibleText(session.first_query ?? 'Session'), 140)}
      kicker={<Kicker session={session} />}
      lead={<Facts session={session} />}
      actions={
        <>
          {session.is_blocked && <Badge tone="bad">Locked</Badge>}
          <StatusBadge status={live?.status ?? session.current_status} />
        </>
      }
    >
      <NextStepBar session={session} live={live} />
      <Tabs session={session} />
      <SessionProvider value={{ ...read.data, live }}>
        <Outlet />
      </SessionProvider>
    </Page>
  )
}

const Kicker = ({ session }: { session: Session }) => (
  <>
    <span title={session.workspace.uri}>{visibleText(repositoryName(session.workspace.uri))}</span>
    {session.workspace.root_path && <span class="mono">{visibleText(session.workspace.root_path)}</span>}
    <span>{session.provider}</span>
    <span>{visibleText(session.scope_id)}</span>
    {session.username && <span>{visibleText(session.username)}</span>}
  </>
)

/** What the session came to so far. */
function Facts({ session }: { session: Session }) {
  const { tokens, cost_usd } = totalsOf(session)
  return (
    <ul class="session-facts small number">
      <li>{plural(session.rounds.length, 'round')}</li>
      {tokens > 0 && <li>{formatNumber(tokens)} tokens</li>}
      {tokens > 0 && cost_usd !== null && <li>{formatMoney(cost_usd)}</li>}
      <li>
        changed <Ago at={session.updated_at} />
      </li>
      <li>
        <span class="mono">{visibleText(shorten(session.workspace.branch, 100))}</span>
        <Copy text={session.workspace.branch} label="Copy branch" />
      </li>
    </ul>
  )
}

function Tabs({ session }: { session: Session }) {
  const has = (test: (round: Session['rounds'][number]) => boolean) => session.rounds.some(test)
  const tabs: [string, string, boolean][] = [
    ['', 'Rounds', true],
    [
      'review',
      'Review',
      has(({ plans, reports, code_changes }) => plans.length + reports.length + code_changes.length > 0),
    ],
    ['graph', 'Graph', has(({ plans }) => plans.some(({ document_url }) => document_url !== null))],
    ['drift', 'Drift', has(({ reports }) => reports.some(({ type }) => type === 'drift'))],
    [
      'import',
      'Import',
      has(({ reports, previews }) => previews.length > 0 || reports.some(({ type }) => type === 'import')),
    ],
    ['seal', 'Seal and apply', session.seal !== null],
    ['pull-request', 'Pull request', true],
  ]
  return (
    <nav class="tabs" aria-label="Parts of the session">
      {tabs
        .filter(([, , shown]) => shown)
        .map(([path, name]) => (
          <Link
            key={path}
            to={`/sessions/$sessionId/${path}` as never}
            params={{ sessionId: session.uuid } as never}
            class="tab"
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {name}
          </Link>
        ))}
    </nav>
  )
}
