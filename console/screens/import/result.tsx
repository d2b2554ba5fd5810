import { Link } from '@tanstack/react-router'
import { useMemo } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { RoundPicker } from '../../ui/round-picker.tsx'
import { formatNumber, plural } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { Proof } from './proof.tsx'
import { type ImportReport, readImportReport } from './report.ts'
import { ResultTable } from './result-table.tsx'

interface ResultProps {
  round: Round
  rounds: readonly Round[]
  select: (number: number) => void
}

const TONES: Record<ImportReport['status'], Tone> = { Succeeded: 'good', Partial: 'warn', Failed: 'bad' }

/** What an import round came to. */
export function Result({ round, rounds, select }: ResultProps) {
  const { session } = useOpenSession()
  const url = round.reports.findLast(({ type }) => type === 'import')?.url ?? null
  const document = useJsonArtifact<unknown>(session.uuid, url)
  const report = useMemo(
    () => (document.isSuccess ? readImportReport(document.data) : null),
    [document.isSuccess, document.data],
  )
  return (
    <section class="card import-result" aria-labelledby="import-result">
      <header class="import-line import-apart">
        <h3 id="import-result">Result of round {round.number}</h3>
        <RoundPicker rounds={rounds} selected={round.number} onSelect={select} />
      </header>
      {document.error ? (
        <ErrorNotice
          error={document.error}
          title="The report could not be read"
          retry={() => void document.refetch()}
        />
      ) : !document.isSuccess ? (
        <Skeleton lines={6} label="The report is being read" />
      ) : report === null ? (
        <Notice tone="warn">The report of this round has a form that this console does not know.</Notice>
      ) : (
        <Told report={report} round={round} />
      )}
    </section>
  )
}

function Told({ report, round }: { report: ImportReport; round: Round }) {
  const { session } = useOpenSession()
  const { imported, refused, excluded } = report
  return (
    <>
      <p class="import-line">
        <Badge tone={TONES[report.status]}>{report.status}</Badge>
        <span>
          {plural(imported.length, 'resource')} imported, {formatNumber(refused.length)} refused
        </span>
        <Origin by="code" />
      </p>
      <Proof round={round} alignment={report.alignment} />
      {report.summary !== '' && (
        <div>
          <Markdown text={report.summary} />
          <Origin by="model" />
        </div>
      )}
      {refused.length > 0 && <ResultTable title="Refused" entries={refused} />}
      {imported.length > 0 && <ResultTable title="Imported" entries={imported} />}
      {report.recommendations.length > 0 && (
        <section>
          <h4>Recommendations</h4>
          <Markdown text={report.recommendations.map((line) => `- ${line}`).join('\n')} />
        </section>
      )}
      {excluded.length > 0 && <Excluded excluded={excluded} />}
      {round.code_changes.length > 0 && (
        <p>
          <Link
            to={'/sessions/$sessionId/review' as never}
            params={{ sessionId: session.uuid } as never}
            search={{ part: 'code', round: round.number } as never}
          >
            The code that was written
          </Link>
        </p>
      )}
    </>
  )
}

const MAX_EXCLUDED = 200

const Excluded = ({ excluded }: { excluded: ImportReport['excluded'] }) => (
  <details>
    <summary>{plural(excluded.length, 'resource was', 'resources were')} not part of it</summary>
    <ul class="import-lines small">
      {excluded.slice(0, MAX_EXCLUDED).map(({ id, details }, index) => (
        <li key={index}>
          <span class="mono">{shorten(visibleText(id), 500)}</span>{' '}
          <span class="quiet">{shorten(visibleText(details), 500)}</span>
        </li>
      ))}
      {excluded.length > MAX_EXCLUDED && <li>and {formatNumber(excluded.length - MAX_EXCLUDED)} more</li>}
    </ul>
  </details>
)
