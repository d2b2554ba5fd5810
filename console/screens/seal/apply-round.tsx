import type { OutputEvent, Round, Session } from '../../client/api/schemas.ts'
import { usePlanDocument } from '../../client/sessions/use-artifact.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'
import { type RoundEvents, useOutput } from '../../client/sessions/use-streams.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Elapsed } from '../../ui/time.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural, visibleText } from '../../ui/words.ts'
import { ReadDocument, RoundPicker, type SelectedRound, useOpenSession } from '../session/open-session.tsx'
import {
  countPlanned,
  countSteps,
  endWithoutReport,
  type Progress,
  readProgress,
  readReport,
  type Step,
} from './apply-outcome.ts'
import { EndedWithout, Report } from './apply-report.tsx'

/** Shows the progress or the result of one apply. */
export function ApplyRound({ round, ...selected }: SelectedRound & { round: Round }) {
  const { session } = useOpenSession()
  const isOver = hasEnded(round)
  const output = useOutput(session.uuid, { round: round.number })
  const progress = readProgress(output.events)
  const planned = usePlannedSteps(session, round)
  return (
    <section class="card seal-card" aria-labelledby="seal-round">
      <header class="seal-head">
        <h3 id="seal-round">{isOver ? `Result of the apply in round ${round.number} ` : 'Applying'}</h3>
        {!isOver && <Elapsed since={round.created_at} until={null} />}
        <RoundPicker round={round} {...selected} />
      </header>
      {isOver ? (
        <Result round={round} />
      ) : (
        <p role="status">{visibleText(lastStatus(round)?.message ?? 'Waiting for a worker.')}</p>
      )}
      <ProgressList progress={progress} planned={planned} output={output} isOver={isOver} />
    </section>
  )
}

/** Returns the number of steps of the plan of this round; 0 when unknown. */
function usePlannedSteps({ uuid, seal, rounds }: Session, round: Round): number {
  const sealed = rounds.find(({ number }) => number === seal?.round && number < round.number) ?? null
  const resources = usePlanDocument(uuid, sealed).data?.resources
  return Array.isArray(resources) ? countPlanned(resources) : 0
}

function Result({ round }: { round: Round }) {
  const last = lastStatus(round)
  const end = endWithoutReport(round)
  if (end) return <EndedWithout end={end} message={last?.message ?? null} />
  return (
    <ReadDocument
      url={round.reports.findLast(({ type }) => type === 'apply')?.url ?? null}
      parse={readReport}
      what="report"
      lines={5}
      unknown={
        <Notice tone="bad" title="The report cannot be read">
          Its document is damaged. The engine output is below and with the round.
        </Notice>
      }
    >
      {(report) => <Report report={report} isCancelled={last?.status === 'uncompleted'} />}
    </ReadDocument>
  )
}

interface ProgressListProps {
  progress: Progress
  /** The number of steps of the plan; 0 when unknown. */
  planned: number
  output: RoundEvents<OutputEvent>
  isOver: boolean
}

/** Shows the progress of an apply, resource by resource. */
function ProgressList({ progress, planned, output, isOver }: ProgressListProps) {
  const { done, running, failed } = countSteps(progress)
  const total = Math.max(planned, done + running + failed)
  if (isOver && progress.steps.length === 0 && progress.errors.length === 0) return null
  return (
    <div class="seal-progress">
      {total > 0 && (
        <progress class="seal-bar" value={done} max={total} aria-label="Steps of the plan that are done">
          {done}
        </progress>
      )}
      <p role="status" class="quiet small">
        {describe(done, running, failed, total)}
        {output.stream === 'waiting' && ' The connection was lost and is being restored.'}
      </p>
      {output.error && <Notice tone="warn">{output.error}</Notice>}
      <Steps steps={progress.steps} follow={!isOver} />
      {progress.errors.length > 0 && (
        <details>
          <summary>Errors of the engine: {plural(progress.errors.length, 'error')}</summary>
          {progress.errors.slice(0, MOST_ERRORS).map((text, index) => (
            <pre key={index} class="small">
              {excerpt(text, 4_000)}
            </pre>
          ))}
        </details>
      )}
    </div>
  )
}

const MOST_ERRORS = 20
/** The length of a list above which only the visible part is drawn. */
const LONG = 12

const Steps = ({ steps, follow }: { steps: readonly Step[]; follow: boolean }) =>
  steps.length > LONG ? (
    <VirtualList
      items={steps}
      estimate={36}
      keyOf={keyOf}
      row={(step) => <StepRow step={step} />}
      label="Progress of each resource"
      follow={follow}
      class="seal-steps"
    />
  ) : (
    <ul aria-label="Progress of each resource">
      {steps.map((step) => (
        <li key={keyOf(step)}>
          <StepRow step={step} />
        </li>
      ))}
    </ul>
  )

const keyOf = ({ effect, address }: Step) => `${effect} ${address}`

function describe(done: number, running: number, failed: number, total: number): string {
  if (total === 0) return 'The engine has not started with a resource yet.'
  const parts = [`${formatNumber(done)} of ${plural(total, 'step')} done`]
  if (running > 0) parts.push(`${formatNumber(running)} running`)
  if (failed > 0) parts.push(`${formatNumber(failed)} failed or stopped`)
  return `${parts.join(', ')}.`
}

const STATES: Record<Step['state'], [sign: string, word: string, tone: Tone]> = {
  running: ['…', 'running', 'accent'],
  done: ['✓', 'done', 'good'],
  failed: ['✗', 'failed', 'bad'],
  stopped: ['?', 'not finished', 'warn'],
}

function StepRow({ step: { address, effect, state, took } }: { step: Step }) {
  const [sign, word, tone] = STATES[state]
  return (
    <div class="seal-step">
      <Badge tone={tone} sign={sign}>
        {word}
      </Badge>
      <span>{effect}</span>
      <span class="mono seal-address">{excerpt(address, 300)}</span>
      <span class="number quiet">{took.slice(0, 12)}</span>
    </div>
  )
}
