import { useQuery } from '@tanstack/preact-query'
import { calls } from '../../client/api/calls.ts'
import type { Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { useSession } from '../../client/sessions/use-session.ts'
import { Badge, Origin, SEVERITY_TONES, type Tone } from '../../ui/badge.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { Ago } from '../../ui/time.tsx'
import { plural, shorten, visibleText } from '../../ui/words.ts'
import { readImpact, reviewedRound } from '../review/lock-reasons.ts'
import { readCompliance } from '../review/report/compliance.ts'

const SHOWN = 4
const LONGEST = 600
const LEVELS: Record<string, Tone> = { high: 'bad', medium: 'warn', low: 'good' }
const shown = (text: string) => visibleText(shorten(text, LONGEST))

/** Who locked a session, and what its latest review found. */
export function WhyLocked({ id }: { id: string }) {
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

/** The record of who did what knows it. */
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
        ? `Locked by the platform's own review${typeof round === 'number' ? ` of round ${round}` : ''}`
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
        <ul class="locked-violations" aria-label="What the compliance audit found">
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
          The <Term name="compliance">compliance audit</Term> found nothing.
        </p>
      )}
      {isUnread && <p class="small quiet">Its report cannot be read now; the review may show it.</p>}
      {round === null && <p class="small quiet">No round of this session was reviewed, so a person locked it.</p>}
    </>
  )
}
