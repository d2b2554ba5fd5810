import { Link } from '@tanstack/react-router'
import type { Round, Session } from '../../../client/api/types.ts'
import { useJsonArtifact } from '../../../client/sessions/use-artifact.ts'
import { hasEnded, lastStatus } from '../../../client/sessions/use-session.ts'
import { Empty, ErrorNotice, Notice, Skeleton } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/words/term.tsx'
import { visibleText } from '../../../ui/words/text.ts'
import { readGenerateReport } from './generate-report.ts'
import { GenerateView } from './generate-view.tsx'
import { PlainView } from './plain-view.tsx'

type Report = Round['reports'][number]

/** What a round reports at its end. */
export function ReportPart({ session, round }: { session: Session; round: Round }) {
  const report = round.reports.at(-1)
  return (
    <section class="report-part" aria-label="Report">
      <h2>Report</h2>
      {report ? <ReportView session={session} report={report} preview={round.preview} /> : <NoReport round={round} />}
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
      {message ? visibleText(message) : 'It did not get as far as a plan that can be reported on.'}
    </Empty>
  )
}

const SCREENS: Partial<Record<Report['type'], [path: string, words: string]>> = {
  drift: ['drift', 'See code and cloud side by side'],
  import: ['import', 'See the inventory of the scope'],
  apply: ['seal', 'See what was applied'],
}

function ReportView({ session, report, preview }: { session: Session; report: Report; preview: boolean }) {
  const read = useJsonArtifact<unknown>(session.uuid, report.url)
  if (read.error)
    return <ErrorNotice error={read.error} title="The report could not be read." retry={() => void read.refetch()} />
  if (read.isPending) return <Skeleton lines={8} label="Loading the report" />
  const generated = report.type === 'generate' ? readGenerateReport(read.data) : null
  if (generated) return <GenerateView report={generated} />
  if (typeof read.data !== 'object' || read.data === null)
    return <Notice tone="warn" title="The report is not in a form that this page can show." />
  const screen = SCREENS[report.type]
  return (
    <>
      {screen && (
        <p>
          <Link to={`/sessions/$sessionId/${screen[0]}` as never} params={{ sessionId: session.uuid } as never}>
            {screen[1]}
          </Link>
        </p>
      )}
      <PlainView document={read.data} preview={preview} />
    </>
  )
}
