import { Link } from '@tanstack/react-router'
import { useMemo } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { useArtifact, useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { Ago } from '../../ui/time/time.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { useOpenSession } from '../session/context.ts'
import { Entries } from './entries.tsx'
import { readOperations } from './operations.ts'
import { Raw } from './raw.tsx'
import { countFates, type DriftReport, type DriftStatus, explainStatus, readReport } from './report.ts'
import type { DriftDraft } from './use-drift-draft.ts'

const TONES: Record<DriftStatus, Tone> = { Succeeded: 'good', Partial: 'warn', Failed: 'bad' }

/** What one round found and did. */
export function Report({ round, draft }: { round: Round; draft: DriftDraft }) {
  const { session } = useOpenSession()
  const url = round.reports.findLast(({ type }) => type === 'drift')?.url ?? null
  const document = useJsonArtifact<unknown>(session.uuid, url)
  const readings = useReadings(session.uuid, round)
  const report = useMemo(
    () => (document.isSuccess ? readReport(document.data, readings.all) : null),
    [document.isSuccess, document.data, readings.all],
  )
  if (document.error)
    return (
      <ErrorNotice error={document.error} title="The report could not be read" retry={() => void document.refetch()} />
    )
  if (!document.isSuccess || readings.isPending) return <Skeleton lines={8} label="The report is being read" />
  if (report === null)
    return <Notice tone="warn">The report of this round has a form that this console does not know.</Notice>
  return (
    <>
      <Summary report={report} round={round} />
      <Entries report={report} round={round} draft={draft} />
      {round.code_changes.length > 0 && (
        <p>
          <Link
            to={'/sessions/$sessionId/review' as never}
            params={{ sessionId: session.uuid } as never}
            search={{ part: 'code', round: round.number } as never}
          >
            All code that this round changed
          </Link>
        </p>
      )}
      <Raw round={round} />
    </>
  )
}

/** What the engine found, in the words of the platform: the first and the last reading of the round. */
function useReadings(sessionId: string, { plans }: Round) {
  const drift = plans.filter(({ document_url }) => document_url === null)
  const first = useArtifact(sessionId, drift[0]?.url ?? null)
  const last = useArtifact(sessionId, drift.length > 1 ? (drift.at(-1)?.url ?? null) : null)
  const texts = [first.data?.text, last.data?.text]
  const all = useMemo(() => texts.flatMap((text) => (text === undefined ? [] : (readOperations(text) ?? []))), texts)
  return { all, isPending: first.isLoading || last.isLoading }
}

function Summary({ report, round }: { report: DriftReport; round: Round }) {
  const counts = countFates(report.entries)
  const isMissed = round.preview && report.status === 'Failed'
  return (
    <section class="card drift-summary" aria-label="Result">
      <p class="drift-status">
        <Badge tone={round.preview && !isMissed ? 'neutral' : TONES[report.status]}>
          {round.preview && !isMissed ? 'Only looked' : report.status}
        </Badge>
        <span>{explainStatus(report.status, round.preview, counts)}</span>
        <span class="quiet small">
          <Ago at={round.created_at} />
        </span>
      </p>
      <dl class="drift-counts">
        {!round.preview && <Count name="mended" value={counts.mended} meaning="the code says now what really runs" />}
        <Count
          name={round.preview ? 'differ' : 'left'}
          value={counts.left}
          meaning={round.preview ? 'nobody has mended them yet' : 'they still differ'}
        />
        <Count name="expected" value={counts.excepted} meaning="a rule of exceptions covers them" />
      </dl>
      <p class="small">
        <Origin by="code" /> <span class="quiet">status, counts and the values on both sides</span>
      </p>
      {report.summary !== '' && <Markdown text={report.summary} />}
      {report.summary !== '' && !round.preview && (
        <p class="small">
          <Origin by="model" /> <span class="quiet">what follows the counts in this text</span>
        </p>
      )}
    </section>
  )
}

const Count = ({ name, value, meaning }: { name: string; value: number; meaning: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <b class="number">{formatNumber(value)}</b>
      <span class="small quiet">{meaning}</span>
    </dd>
  </div>
)
