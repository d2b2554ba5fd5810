import { Outlet, useLocation, useParams } from '@tanstack/react-router'
import type { Round, Session } from '../../client/api/client.ts'
import { useEndNotification } from '../../client/end-notification.ts'
import { hasDocument, lastStatus, sumSpend, useSession } from '../../client/sessions/use-session.ts'
import { useLiveSession } from '../../client/sessions/use-streams.ts'
import { Ago, Badge, Copy, Skeleton, StatusBadge } from '../../ui/kit.tsx'
import { Page, Unreadable } from '../../ui/page.tsx'
import { excerpt, formatSpend, plural, repositoryName, visibleText } from '../../ui/words.ts'
import { nextStep, type SessionPart } from './next-step.ts'
import { SessionContext, SessionLink, useOpenSession } from './open-session.tsx'

/** Shows the frame of a session: its request, its state, and its screens. */
export function Screen() {
  const { sessionId = '' } = useParams({ strict: false })
  const read = useSession(sessionId)
  const session = read.data?.session
  const live = useLiveSession(sessionId, session?.in_flight ?? false)
  useEndNotification(session)
  if (!session || !read.data)
    return (
      // Blank lines reserve their space, so that the heading does not move.
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
      title={excerpt(session.first_query ?? 'Session', 140)}
      kicker={<Kicker session={session} />}
      lead={<Facts session={session} />}
      actions={
        <>
          {session.is_blocked && <Badge tone="bad">Locked</Badge>}
          <StatusBadge status={live?.status ?? session.current_status} />
        </>
      }
    >
      <SessionContext.Provider value={{ ...read.data, live }}>
        <NextStepBar />
        <Tabs />
        <Outlet />
      </SessionContext.Provider>
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

function Facts({ session }: { session: Session }) {
  const spend = sumSpend(session.rounds.flatMap(({ usage }) => usage ?? []))
  return (
    <ul class="session-facts small number">
      <li>{plural(session.rounds.length, 'round')}</li>
      {spend && formatSpend(spend).map((figure) => <li key={figure}>{figure}</li>)}
      <li>
        changed <Ago at={session.updated_at} />
      </li>
      <li>
        <span class="mono">{excerpt(session.workspace.branch, 100)}</span>
        <Copy text={session.workspace.branch} label="Copy branch" />
      </li>
    </ul>
  )
}

/** Shows one line below the heading: the progress of the running round, or the next step. */
function NextStepBar() {
  const { session, live } = useOpenSession()
  const here = useLocation({ select: ({ pathname }) => pathname.replace(/\/+$/, '') })
  const base = `/sessions/${session.uuid}`
  if (session.in_flight) {
    // The screen of the rounds shows the same in the round itself.
    if (here.endsWith(base)) return null
    const last = session.rounds.at(-1)
    const message = live?.message || (last && lastStatus(last)?.message) || 'It waits for a worker.'
    return (
      <p class="session-next session-next-accent" role="status">
        <span class="dot dot-live" aria-hidden="true" />
        <span>
          Round {last?.number ?? 1} is running: {excerpt(message, 160)}
        </span>
        <SessionLink>Watch it</SessionLink>
      </p>
    )
  }
  const step = nextStep(session)
  if (!step) return null
  const isHere = here.endsWith(step.part === 'rounds' ? base : `${base}/${step.part}`)
  return (
    <p class={`session-next session-next-${step.tone}`}>
      <span>{step.text}</span>
      {!isHere && (
        <SessionLink class="button button-small" part={step.part} search={{ round: step.round }}>
          {step.label}
        </SessionLink>
      )}
    </p>
  )
}

const hasReport = (type: string) => (round: Round) => round.reports.some((report) => report.type === type)

function Tabs() {
  const { session } = useOpenSession()
  const has = (test: (round: Round) => boolean) => session.rounds.some(test)
  const tabs: [SessionPart, string, boolean][] = [
    ['rounds', 'Rounds', true],
    [
      'review',
      'Review',
      has(({ plans, reports, code_changes }) => plans.length + reports.length + code_changes.length > 0),
    ],
    ['graph', 'Graph', has(hasDocument)],
    ['drift', 'Drift', has(hasReport('drift'))],
    ['import', 'Import', has(({ previews }) => previews.length > 0) || has(hasReport('import'))],
    ['seal', 'Saved plan', session.seal !== null],
    ['pull-request', 'Pull request', true],
  ]
  return (
    <nav class="tabs" aria-label="Parts of the session">
      {tabs
        .filter(([, , shown]) => shown)
        .map(([part, name]) => (
          <SessionLink key={part} part={part} class="tab">
            {name}
          </SessionLink>
        ))}
    </nav>
  )
}
