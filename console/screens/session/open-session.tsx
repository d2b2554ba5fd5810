import { Link } from '@tanstack/react-router'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import type { Round, Session, SessionSummary } from '../../client/api/client.ts'
import { type ReadSession, useJsonArtifact } from '../../client/sessions/use-session.ts'
import type { useLiveSession } from '../../client/sessions/use-streams.ts'
import { type SearchOf, useAnySearch, useSearchChange } from '../../client/use-address.ts'
import { NamedSelect } from '../../ui/controls.tsx'
import { Ago, Badge, ErrorNotice, Notice, Skeleton } from '../../ui/kit.tsx'
import { excerpt, LOCK_GATES, visibleText } from '../../ui/words.ts'
import type { Refusal } from '../seal/apply-readiness.ts'
import type { SessionPart } from './next-step.ts'

/** The session of the screens below. */
interface OpenSession extends ReadSession {
  live: ReturnType<typeof useLiveSession>
}

export const SessionContext = createContext<OpenSession | null>(null)

export function useOpenSession(): OpenSession {
  const open = useContext(SessionContext)
  if (!open) throw new Error('no session above this component')
  return open
}

export type SelectedRound = ReturnType<typeof useSelectedRound>

/**
 * Returns the rounds for which `fits` is true, and the one of them that the address names (`?round=2`), otherwise the
 * newest one.
 */
export function useSelectedRound(fits: (round: Round) => boolean) {
  const { session } = useOpenSession()
  const named = Number(useAnySearch().round)
  const change = useSearchChange()
  const rounds = session.rounds.filter(fits)
  const round = rounds.find(({ number }) => number === named) ?? rounds.at(-1) ?? null
  // Other parameters of the address, such as a resource of the plan, are only valid for one round.
  const select = (number: number) =>
    change({ round: number, plan: undefined, resource: undefined, finding: undefined }, false)
  return { round, rounds, select }
}

/** Selects one of several rounds; shows nothing for only one. */
export function RoundPicker({ round, rounds, select }: SelectedRound) {
  if (round === null || rounds.length < 2) return null
  const nameOf = ({ number, query, preview }: Round) =>
    `${number} · ${preview ? 'Preview · ' : ''}${excerpt(query, 50)}`
  return (
    <NamedSelect
      class="round-picker"
      label={<span class="small quiet">Round</span>}
      value={round.number}
      options={rounds.toReversed().map((other) => [other.number, nameOf(other)])}
      change={(number) => select(Number(number))}
    />
  )
}

interface DocumentProps<Value> {
  /** The link to the document; null when there is none. */
  url: string | null
  /** Reads the document; null for one of an unknown form. */
  parse: (document: unknown) => Value | null
  /** The name of the document in a sentence. */
  what: string
  /** The title of the notice that it could not be read. */
  failure?: string
  /** The height of the skeleton. */
  lines: number
  /** The notice of a document of an unknown form. */
  unknown: ComponentChildren
  children: (value: Value) => ComponentChildren
}

/** Shows a document of the session once it is loaded; until then a skeleton, or the reason why there is none. */
export function ReadDocument<Value>({ url, parse, what, lines, unknown, children, ...rest }: DocumentProps<Value>) {
  const { failure = `The ${what} could not be read` } = rest
  const read = useJsonArtifact<unknown>(useOpenSession().session.uuid, url)
  const value = useMemo(() => (read.isSuccess ? parse(read.data) : null), [read.isSuccess, read.data, parse])
  if (read.error) return <ErrorNotice error={read.error} title={failure} retry={() => void read.refetch()} />
  if (!read.isSuccess) return <Skeleton lines={lines} label={`Loading the ${what}`} />
  return <>{value === null ? unknown : children(value)}</>
}

interface SessionLinkProps {
  /** The session; the open one by default. */
  id?: string
  /** The screen of the session; its rounds by default. */
  part?: SessionPart
  search?: SearchOf<'round' | 'part' | 'resource'>
  class?: string
  children: ComponentChildren
}

/** Links to a screen of a session. */
export function SessionLink({ id, part = 'rounds', search = {}, ...rest }: SessionLinkProps) {
  const open = useContext(SessionContext)
  return (
    <Link
      {...rest}
      to={part === 'rounds' ? '/sessions/$sessionId' : (`/sessions/$sessionId/${part}` as const)}
      params={{ sessionId: id ?? open?.session.uuid ?? '' }}
      search={search}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{}}
    />
  )
}

interface RefusedProps {
  refusal: Refusal
  title: string
  tone?: 'neutral' | 'warn'
}

/** Shows the reason why apply or merge is not possible now, with a link to the remedy. */
export const Refused = ({ refusal: { reason, advice, remedy }, title, tone = 'warn' }: RefusedProps) => (
  <Notice
    tone={tone}
    title={title}
    actions={
      remedy === 'rounds' ? (
        <SessionLink class="button">Go to the rounds</SessionLink>
      ) : (
        remedy && (
          <Link class="button" to={remedy === 'locked' ? '/locked' : '/'}>
            {remedy === 'locked' ? 'Locked sessions' : 'New request'}
          </Link>
        )
      )
    }
  >
    <p>{visibleText(reason)}</p>
    <p>{advice}</p>
  </Notice>
)

/** Shows who unlocked the session last, why and when; nothing while nobody has. */
export function LastUnlock({ session: { last_lock_change: change } }: { session: Session }) {
  if (!change || change.locked) return null
  const by = change.round === null ? excerpt(change.by, 300) : `the platform's review of round ${change.round}`
  return (
    <p class="small quiet">
      Unlocked by {by}, <Ago at={change.at} />
      {change.reason && <>: “{excerpt(change.reason, 1_000)}”</>}
    </p>
  )
}

/** Shows since when, by which gates and for what a session is locked. */
export function LockReasons({ lock }: Pick<SessionSummary, 'lock'>) {
  if (!lock) return <p class="small quiet">The reasons of this lock were not recorded.</p>
  return (
    <>
      <ul class="lock-reasons" aria-label="Reasons of the lock">
        {lock.reasons.map(({ gate, what, by, round }, index) => (
          <li key={index}>
            <Badge tone="bad">{LOCK_GATES[gate]}</Badge> {what && excerpt(what, 1_000)}{' '}
            <span class="small quiet">
              {round === null ? `by ${excerpt(by, 300)}` : `by the platform's review of round ${round}`}
            </span>
          </li>
        ))}
      </ul>
      {lock.since && (
        <p class="small quiet">
          Locked since <Ago at={lock.since} />
        </p>
      )}
    </>
  )
}
