import type { ApplyReport } from '../../../src/reports/schemas.ts'
import type { OutputEvent, Round, Session } from '../../client/api/client.ts'
import { hasEnded, lastStatus, usePlanDocument } from '../../client/sessions/use-session.ts'
import { type RoundEvents, useOutput } from '../../client/sessions/use-streams.ts'
import { Scrolling } from '../../ui/controls.tsx'
import { Badge, Elapsed, Notice, Origin, SignBadge, type Tone } from '../../ui/kit.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural, visibleText } from '../../ui/words.ts'
import { ReadDocument, RoundPicker, type SelectedRound, SessionLink, useOpenSession } from '../session/open-session.tsx'
import {
  countPlanned,
  countSteps,
  endWithoutReport,
  type Outcome,
  outcomeOf,
  type Progress,
  readProgress,
  readReport,
  type Step,
} from './apply-outcome.ts'

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
  if (end) {
    const [tone, title, advice] = ENDS[end]
    return (
      <Notice tone={tone} title={title}>
        {last?.message && <p>{excerpt(last.message, 2_000)}</p>}
        <p>{advice}</p>
      </Notice>
    )
  }
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
          {progress.errors.slice(0, 20).map((text, index) => (
            <pre key={index} class="small">
              {excerpt(text, 4_000)}
            </pre>
          ))}
        </details>
      )}
    </div>
  )
}

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

const STATES = {
  running: ['…', 'running', 'accent'],
  done: ['✓', 'done', 'good'],
  failed: ['✗', 'failed', 'bad'],
  stopped: ['?', 'not finished', 'warn'],
} as const

const StepRow = ({ step: { address, effect, state, took } }: { step: Step }) => (
  <div class="seal-step">
    <SignBadge of={STATES[state]} />
    <span>{effect}</span>
    <span class="mono seal-address">{excerpt(address, 300)}</span>
    <span class="number quiet">{took.slice(0, 12)}</span>
  </div>
)

const WORDS: Record<Outcome, [tone: Tone, title: string, advice: string]> = {
  success: ['good', 'Applied', 'The plan was applied. A further change needs a further round.'],
  partial: [
    'warn',
    'Partly applied',
    'Part of the plan was applied, and the state records which. Request a further round, ' +
      'which plans what is left, and apply that.',
  ],
  failed: [
    'bad',
    'The apply failed',
    'The engine started and completed nothing. Fix the cause in a further round and apply its plan.',
  ],
  nothing: [
    'warn',
    'Nothing was applied',
    'The cloud is unchanged. Request a further round, which plans against the present state.',
  ],
  unknown: [
    'bad',
    'The outcome is unknown',
    'All, some or none of the plan may have been applied, and it is not retried. Check the cloud and the lock of ' +
      'the state first; then a drift round or a further round shows the differences.',
  ],
}

/** Shows the report of an apply, with the next step. */
function Report({ report, isCancelled }: { report: ApplyReport; isCancelled: boolean }) {
  const outcome = outcomeOf(report)
  const [tone, title, advice] = WORDS[outcome]
  const { summary } = report
  return (
    <>
      <Notice tone={tone} title={title} actions={<NextStep outcome={outcome} />}>
        <p>{advice}</p>
        {isCancelled && <p>This round was stopped; the engine finished what it had started.</p>}
      </Notice>
      {outcome !== 'unknown' && (
        <dl class="seal-counts">
          {COUNTS.map(([key, name]) => (
            <div key={key}>
              <dt>{name}</dt>
              <dd class="number">{formatNumber(Number(summary[key]) || 0)}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        {excerpt(report.execution_summary, 4_000)} <Origin by="model" />
      </p>
      <Entries entries={report.resource_changes} />
      <Advice texts={report.recommendations} />
    </>
  )
}

const COUNTS = [
  ['created', 'created'],
  ['updated', 'changed'],
  ['destroyed', 'destroyed'],
  ['failed', 'not done'],
] as const

const NextStep = ({ outcome }: { outcome: Outcome }) => (
  <SessionLink class="button" part={outcome === 'success' ? 'pull-request' : 'rounds'}>
    {outcome === 'success' ? 'Pull request' : 'Request a further round'}
  </SessionLink>
)

function Entries({ entries }: { entries: ApplyReport['resource_changes'] }) {
  if (entries.length === 0) return null
  // Failures first.
  const sorted = entries.toSorted((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
  return (
    <Scrolling class="scroll-x" label="Result of each resource">
      <FirstOf items={sorted}>
        {(shown) => (
          <Table head={['Resource', 'Result', 'Details']}>
            {shown.map((entry, index) => (
              <tr key={index}>
                <th scope="row" class="mono seal-address">
                  {excerpt(`${entry.resource_type}.${entry.resource_name}`, 300)}
                </th>
                <td class="seal-cell">
                  {entry.status === 'success' ? (
                    <Badge tone="good">✓ done</Badge>
                  ) : (
                    <Badge tone="bad">✗ not done</Badge>
                  )}
                </td>
                <td>
                  {excerpt(entry.details ?? '', 1_000)}
                  {entry.error_message && <pre class="small">{excerpt(entry.error_message, 4_000)}</pre>}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </FirstOf>
    </Scrolling>
  )
}

function Advice({ texts }: { texts: readonly unknown[] }) {
  const shown = texts.filter((text): text is string => typeof text === 'string')
  if (shown.length === 0) return null
  return (
    <>
      <h4>What to do</h4>
      <ul class="seal-advice">
        {shown.slice(0, 20).map((text, index) => (
          <li key={index}>{excerpt(text, 2_000)}</li>
        ))}
      </ul>
    </>
  )
}

const ENDS: Record<'cancelled' | 'failed' | 'lost', [tone: Tone, title: string, advice: string]> = {
  cancelled: [
    'neutral',
    'Stopped before it started',
    'The engine did not start and nothing was changed. The saved plan stays valid unless stated otherwise below.',
  ],
  failed: [
    'bad',
    'The apply round failed',
    'There is no report. The engine output shows how far the apply came. This session accepts no further ' +
      'round: open a new one, whose plan shows how code and cloud differ now.',
  ],
  lost: [
    'warn',
    'There is no report of this apply',
    'The round ended without one. A further round shows how code and cloud differ now.',
  ],
}
