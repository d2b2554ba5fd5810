import type { PlanDocument, Round } from '../../client/api/schemas.ts'
import { useArtifact, useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { Origin, ReportBadge } from '../../ui/badge.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Notice, Skeleton } from '../../ui/notice.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { excerpt, formatNumber, plural, visibleText } from '../../ui/words.ts'
import { ReadDocument, RoundPicker, type SelectedRound, useOpenSession } from '../session/open-session.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { countChanges, type ImportReport, readImportReport, saysNoChanges } from './import-report.ts'

export function Result({ round, ...selected }: SelectedRound & { round: Round }) {
  return (
    <section class="card import-result" aria-labelledby="import-result">
      <header class="import-line import-apart">
        <h3 id="import-result">Result of round {round.number}</h3>
        <RoundPicker round={round} {...selected} />
      </header>
      <ReadDocument
        url={round.reports.findLast(({ type }) => type === 'import')?.url ?? null}
        parse={readImportReport}
        what="report"
        lines={6}
        unknown={<Notice tone="warn">The format of the report of this round is unknown.</Notice>}
      >
        {(report) => <ReportBody report={report} round={round} />}
      </ReadDocument>
    </section>
  )
}

function ReportBody({ report, round }: { report: ImportReport; round: Round }) {
  const { imported, refused, excluded } = report
  return (
    <>
      <p class="import-line">
        <ReportBadge status={report.status} />
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
          <SessionLink part="review" search={{ part: 'code', round: round.number }}>
            Code changes
          </SessionLink>
        </p>
      )}
    </>
  )
}

const MAX_EXCLUDED = 200

const Excluded = ({ excluded }: { excluded: ImportReport['excluded'] }) => (
  <details>
    <summary>{plural(excluded.length, 'resource was', 'resources were')} excluded</summary>
    <ul class="import-lines small">
      {excluded.slice(0, MAX_EXCLUDED).map(({ id, details }, index) => (
        <li key={index}>
          <span class="mono">{excerpt(id, 500)}</span> <span class="quiet">{excerpt(details, 500)}</span>
        </li>
      ))}
      {excluded.length > MAX_EXCLUDED && <li>and {formatNumber(excluded.length - MAX_EXCLUDED)} more</li>}
    </ul>
  </details>
)

/** Shows the resources of a round, each with its place in the code or the reason of its refusal. */
function ResultTable({ title, entries }: { title: string; entries: ImportReport['imported'] }) {
  const hasWords = entries.some(({ error, details }) => error !== null || details !== '')
  const words = title === 'Refused' ? 'Reason' : 'Details'
  return (
    <section class="import-table">
      <h4>
        {title} <span class="number quiet">{formatNumber(entries.length)}</span>
      </h4>
      <FirstOf items={entries} count={100}>
        {(shown) => (
          <div class="scroll-x">
            <Table head={['Resource', 'In the code', ...(hasWords ? [words] : [])]}>
              {shown.map(({ id, address, error, details }, index) => (
                <tr key={index}>
                  <th scope="row" class="mono">
                    {excerpt(id, 500)}
                  </th>
                  <td class="mono">{excerpt(address, 500) || 'not written'}</td>
                  {hasWords && (
                    <td class="import-words">{excerpt([error, details].filter(Boolean).join('\n'), 4_000)}</td>
                  )}
                </tr>
              ))}
            </Table>
          </div>
        )}
      </FirstOf>
    </section>
  )
}

/** Shows the last plan of an import round: when it is empty, the code matches what exists. */
function Proof({ round, alignment }: { round: Round; alignment: string }) {
  const { session } = useOpenSession()
  const last = round.plans.at(-1) ?? null
  const document = useJsonArtifact<PlanDocument>(session.uuid, last?.document_url ?? null)
  const text = useArtifact(session.uuid, last && last.document_url === null ? last.url : null)
  if (document.isLoading || text.isLoading) return <Skeleton lines={2} label="Loading the last plan" />
  const changes = document.data?.summary ? countChanges(document.data) : null
  const isEmpty = changes === null ? saysNoChanges(text.data?.text ?? '') : changes === 0
  const [tone, title] =
    last === null
      ? (['neutral', 'No plan was made'] as const)
      : isEmpty === null
        ? (['warn', 'The last plan could not be read'] as const)
        : isEmpty
          ? (['good', 'Proof: the last plan is empty'] as const)
          : (['warn', `The last plan is not empty: ${plural(changes ?? 0, 'change')}`] as const)
  return (
    <Notice tone={tone} title={title}>
      {isEmpty && <p>With the present code, the engine would change none of the imported resources.</p>}
      {alignment !== '' && <p>{visibleText(alignment)}</p>}
      <Origin by="code" />
    </Notice>
  )
}
