import type { Round, Session } from '../../client/api/schemas.ts'
import { useJsonArtifact, usePlanDocument } from '../../client/sessions/use-artifact.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'
import { useOutput } from '../../client/sessions/use-streams.ts'
import { Skeleton } from '../../ui/notice.tsx'
import { Unreadable } from '../../ui/shell/errors.tsx'
import { Elapsed } from '../../ui/time.tsx'
import { visibleText } from '../../ui/words.ts'
import { RoundPicker, type SelectedRound } from '../session/selected-round.tsx'
import { endWithoutReport, readReport } from './apply-outcome.ts'
import { countPlanned, readProgress } from './apply-progress.ts'
import { ProgressList } from './apply-progress-list.tsx'
import { Damaged, EndedWithout, Report } from './apply-report.tsx'

interface Props extends SelectedRound {
  session: Session
  round: Round
}

/** One apply: what it is doing, or what came of it. */
export function ApplyRound({ session, round, ...selected }: Props) {
  const isOver = hasEnded(round)
  const output = useOutput(session.uuid, { round: round.number })
  const progress = readProgress(output.events)
  const planned = usePlannedSteps(session, round)
  return (
    <section class="card seal-card" aria-labelledby="seal-round">
      <header class="seal-head">
        <h3 id="seal-round">{isOver ? `What the apply in round ${round.number} did` : 'Applying'}</h3>
        {!isOver && <Elapsed since={round.created_at} until={null} />}
        <RoundPicker round={round} {...selected} />
      </header>
      {isOver ? (
        <Result session={session} round={round} />
      ) : (
        <p role="status">{visibleText(lastStatus(round)?.message ?? 'Waiting for a worker.')}</p>
      )}
      <ProgressList progress={progress} planned={planned} output={output} isOver={isOver} />
    </section>
  )
}

/** How many steps the plan has that this round carries out; 0 when it is not known. */
function usePlannedSteps({ uuid, seal, rounds }: Session, round: Round): number {
  const sealed = rounds.find(({ number }) => number === seal?.round && number < round.number) ?? null
  const resources = usePlanDocument(uuid, sealed).data?.resources
  return Array.isArray(resources) ? countPlanned(resources) : 0
}

function Result({ session, round }: Pick<Props, 'session' | 'round'>) {
  const stored = round.reports.findLast(({ type }) => type === 'apply')
  const read = useJsonArtifact<unknown>(session.uuid, stored?.url ?? null)
  const end = endWithoutReport(round)
  if (end) return <EndedWithout end={end} message={lastStatus(round)?.message ?? null} />
  if (read.error) return <Unreadable error={read.error} what="report" retry={() => void read.refetch()} />
  if (read.isPending) return <Skeleton lines={5} label="The report is being read" />
  const report = readReport(read.data)
  return report ? (
    <Report report={report} session={session} isCancelled={lastStatus(round)?.status === 'uncompleted'} />
  ) : (
    <Damaged />
  )
}
