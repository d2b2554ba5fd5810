import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Session, SessionSummary } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { refreshSession, useSession } from '../../client/sessions/use-session.ts'
import { Badge, Origin, SEVERITY_TONES, StatusBadge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { Ago } from '../../ui/time.tsx'
import { CLOUDS, excerpt, oneLine, plural, repositoryName } from '../../ui/words.ts'
import { readCompliance } from '../review/report/compliance.ts'
import { readImpact, reviewedRound } from '../review/report/generate-report.ts'
import { SessionLink } from '../session/session-link.tsx'

interface CardProps {
  session: SessionSummary
  mayUnlock: boolean
  onUnlocked: (title: string) => void
}

/** Shows a locked session, the reason of the lock, and the possible actions. */
export function LockedCard({ session, mayUnlock, onUnlocked }: CardProps) {
  const [asks, setAsks] = useState(false)
  const setLock = useSetLock()
  const title = oneLine(session.first_query || 'Without a request')
  const { uri, root_path } = session.workspace
  const unlock = async () => {
    await setLock(session.uuid, false)
    onUnlocked(title)
  }
  return (
    <article class="card locked-card" aria-label={title}>
      <header class="locked-head">
        <h2>
          <SessionLink id={session.uuid}>{title}</SessionLink>
        </h2>
        <StatusBadge status={session.current_status} />
      </header>
      <p class="page-kicker">
        <span>{oneLine(repositoryName(uri))}</span>
        {root_path && <span class="mono">{oneLine(root_path)}</span>}
        <span>{CLOUDS[session.provider] ?? session.provider}</span>
        <span>{oneLine(session.username ?? '')}</span>
        <span>
          active <Ago at={session.updated_at} />
        </span>
      </p>
      <WhyLocked id={session.uuid} />
      <div class="notice-actions">
        <SessionLink class="button button-primary" id={session.uuid} part="review">
          Review
        </SessionLink>
        {mayUnlock && <Button onClick={() => setAsks(true)}>Unlock…</Button>}
      </div>
      <Confirm
        open={asks}
        title="Unlock this session?"
        action="Unlock"
        onClose={() => setAsks(false)}
        onConfirm={unlock}
      >
        <p>
          <b>{title}</b>
        </p>
        <ul class="locked-means">
          <li>The owner can then apply the saved plan and merge the pull request.</li>
          <li>Nothing is applied or merged automatically, and the findings stay in the review.</li>
          <li>The next request is reviewed again, and may lock the session again.</li>
          <li>The audit records that you unlocked it.</li>
        </ul>
      </Confirm>
    </article>
  )
}

/** Returns a function that locks or unlocks a session. Throws as the call. */
export function useSetLock(): (id: string, locked: boolean) => Promise<void> {
  const { api } = usePlatform()
  const client = useQueryClient()
  return async (id, locked) => {
    await calls.setLock(api, { params: { session_id: id }, body: { locked } })
    await refreshSession(client, id)
  }
}

const SHOWN = 4
const LEVELS: Record<string, Tone> = { high: 'bad', medium: 'warn', low: 'good' }
const shown = (text: string) => excerpt(text, 600)

/** Shows the actor of a lock and the findings of the latest review. */
function WhyLocked({ id }: { id: string }) {
  const read = useSession(id)
  return (
    <div class="locked-why">
      <LockedBy id={id} />
      {read.data ? (
        <Findings session={read.data.session} />
      ) : read.error ? (
        <ErrorNotice error={read.error} title="The reasons could not be read" retry={() => void read.refetch()} />
      ) : (
        <Skeleton lines={2} />
      )}
    </div>
  )
}

/** Shows the actor, from the audit. */
function LockedBy({ id }: { id: string }) {
  const { api } = usePlatform()
  const { data } = useQuery({
    queryKey: ['sessions', 'lock', id],
    queryFn: ({ signal }) =>
      calls.listAudit(api, { query: { session_id: id, action: 'session_locked', page_size: 1 }, signal }),
  })
  const entry = data?.items[0]
  if (!entry) return null
  const { round } = entry.detail as { round?: unknown }
  return (
    <p class="small quiet">
      {entry.actor === 'platform'
        ? `Locked by the review of the platform${typeof round === 'number' ? ` of round ${round}` : ''}`
        : `Locked by ${shown(entry.actor)}`}
      , <Ago at={entry.at} />
    </p>
  )
}

function Findings({ session }: { session: Session }) {
  const round = reviewedRound(session)
  const report = useJsonArtifact(session.uuid, round?.reports.at(-1)?.url ?? null)
  const audit = useJsonArtifact(session.uuid, round?.compliance_checks.at(-1)?.url ?? null)
  if (report.isLoading || audit.isLoading) return <Skeleton lines={2} />
  const banner = readImpact(report.data)
  const findings = readCompliance(audit.data, undefined)?.findings ?? []
  const isUnread = report.error !== null || audit.error !== null
  return (
    <>
      {banner && (
        <p>
          <Badge tone={LEVELS[banner.level] ?? 'neutral'}>{shown(banner.level)} impact</Badge>{' '}
          <b>{shown(banner.title)}</b> {shown(banner.description)} <Origin by="model" />
        </p>
      )}
      {findings.length > 0 && (
        <ul class="locked-violations" aria-label="Findings of the compliance check">
          {findings.slice(0, SHOWN).map(({ rule, severity, resource, message }, index) => (
            <li key={index}>
              <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge> {shown(message)}{' '}
              <span class="small quiet mono">
                {shown(rule)}
                {resource && ` · ${shown(resource)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {findings.length > SHOWN && (
        <p class="small quiet">and {plural(findings.length - SHOWN, 'more finding')} in the review</p>
      )}
      {audit.data !== undefined && findings.length === 0 && (
        <p class="small quiet">
          The <Term name="compliance">compliance check</Term> found nothing.
        </p>
      )}
      {isUnread && <p class="small quiet">Its report cannot be read now; see the review.</p>}
      {round === null && <p class="small quiet">No round of this session was reviewed, so a person locked it.</p>}
    </>
  )
}
