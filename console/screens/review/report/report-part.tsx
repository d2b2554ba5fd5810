import type { Round } from '../../../client/api/schemas.ts'
import { objectOf, textOf } from '../../../client/json.ts'
import { hasEnded, lastStatus } from '../../../client/sessions/use-session.ts'
import { Origin, ReportBadge } from '../../../ui/badge.tsx'
import { Empty, Notice } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, formatNumber, visibleText } from '../../../ui/words.ts'
import type { SessionPart } from '../../session/next-step.ts'
import { ReadDocument } from '../../session/open-session.tsx'
import { SessionLink } from '../../session/session-link.tsx'
import { readGenerateReport } from './generate-report.ts'
import { GenerateView } from './generate-view.tsx'
import { Prose } from './prose.tsx'

type Report = Round['reports'][number]

export function ReportPart({ round }: { round: Round }) {
  const report = round.reports.at(-1)
  return (
    <section class="report-part" aria-label="Report">
      <h2>Report</h2>
      {report ? <ReportView report={report} preview={round.preview} /> : <NoReport round={round} />}
    </section>
  )
}

function NoReport({ round }: { round: Round }) {
  const message = lastStatus(round)?.message
  if (!hasEnded(round))
    return (
      <Empty title="No report yet">
        The report is written when the <Term name="round">round</Term> ends.
      </Empty>
    )
  return (
    <Empty title="This round ended without a report">
      {message ? visibleText(message) : 'It made no plan to report on.'}
    </Empty>
  )
}

const SCREENS: Partial<Record<Report['type'], [part: SessionPart, words: string]>> = {
  drift: ['drift', 'Compare code and cloud'],
  import: ['import', 'See the inventory of the scope'],
  apply: ['seal', 'See what was applied'],
}

const asObject = (document: unknown) => (typeof document === 'object' ? document : null)

const ReportView = ({ report, preview }: { report: Report; preview: boolean }) => (
  <ReadDocument
    url={report.url}
    parse={asObject}
    what="report"
    failure="The report could not be read."
    lines={8}
    unknown={<Notice tone="warn" title="The format of the report is unknown." />}
  >
    {(document) => {
      const generated = report.type === 'generate' ? readGenerateReport(document) : null
      if (generated) return <GenerateView report={generated} />
      const [part, words] = SCREENS[report.type] ?? []
      return (
        <>
          {part && (
            <p>
              <SessionLink part={part}>{words}</SessionLink>
            </p>
          )}
          <PlainView document={document} preview={preview} />
        </>
      )
    }}
  </ReadDocument>
)

const MAX_ITEMS = 200

/** Returns `Resource address` for `resource_address`. */
const nameOfKey = (key: string): string => {
  const words = key.replaceAll(/[_\s]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Shows a report of any type, by key: status and numbers first, then texts, then lists. */
function PlainView({ document, preview }: { document: unknown; preview: boolean }) {
  const { status, summary, ...rest } = objectOf(document)
  const counts = Object.entries(objectOf(summary)).filter(([, value]) => typeof value === 'number')
  const texts = Object.entries({ summary, ...rest }).filter(([, value]) => typeof value === 'string' && value !== '')
  const lists = Object.entries(rest).filter(([, value]) => Array.isArray(value) && value.length > 0)
  return (
    <>
      <p class="report-line">
        {textOf(status) && <ReportBadge status={textOf(status)} />}
        {counts.map(([name, value]) => (
          <span key={name} class="number">
            {nameOfKey(name)}: {formatNumber(value as number)}
          </span>
        ))}
        <Origin by="code" />
      </p>
      {texts.map(([name, value]) => (
        <div key={name}>
          {name !== 'summary' && name !== 'execution_summary' && <h3>{visibleText(nameOfKey(name))}</h3>}
          <Prose text={value as string} />
        </div>
      ))}
      {!preview && (
        <p class="quiet small report-line">
          Numbers and results <Origin by="code" /> · other texts <Origin by="model" />
        </p>
      )}
      {lists.map(([name, value]) => (
        <section key={name} aria-label={visibleText(nameOfKey(name))}>
          <h3>{visibleText(nameOfKey(name))}</h3>
          <Values values={value as unknown[]} />
        </section>
      ))}
    </>
  )
}

const Values = ({ values }: { values: readonly unknown[] }) => (
  <ul class="report-changes">
    {values.slice(0, MAX_ITEMS).map((value, index) => (
      <li key={index}>
        <Value value={value} />
      </li>
    ))}
    {values.length > MAX_ITEMS && <li class="quiet">and {formatNumber(values.length - MAX_ITEMS)} more</li>}
  </ul>
)

function Value({ value }: { value: unknown }) {
  if (typeof value !== 'object' || value === null) return <>{excerpt(String(value), 4_000)}</>
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== '' && !isEmptyList(inner))
  return (
    <dl class="report-fields">
      {entries.map(([name, inner]) => (
        <div key={name}>
          <dt>{visibleText(nameOfKey(name))}</dt>
          <dd>{Array.isArray(inner) ? <Values values={inner} /> : <Value value={inner} />}</dd>
        </div>
      ))}
    </dl>
  )
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
