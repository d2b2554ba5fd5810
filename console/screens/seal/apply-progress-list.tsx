import type { OutputEvent } from '../../client/api/schemas.ts'
import type { RoundEvents } from '../../client/sessions/use-streams.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { formatNumber, plural, shorten, visibleText } from '../../ui/words.ts'
import { countSteps, type Progress, type Step } from './apply-progress.ts'

interface Props {
  progress: Progress
  /** Steps of the plan; 0 when it is not known. */
  planned: number
  output: RoundEvents<OutputEvent>
  isOver: boolean
}

/** What the engine does and did, resource by resource. */
export function ProgressList({ progress, planned, output, isOver }: Props) {
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
        {output.stream === 'waiting' && ' The connection broke; it comes back by itself.'}
      </p>
      {output.error && <Notice tone="warn">{output.error}</Notice>}
      <Steps steps={progress.steps} follow={!isOver} />
      {progress.errors.length > 0 && <Errors errors={progress.errors} />}
    </div>
  )
}

const LONG = 12

function Steps({ steps, follow }: { steps: readonly Step[]; follow: boolean }) {
  if (steps.length > LONG)
    return (
      <VirtualList
        items={steps}
        estimate={36}
        keyOf={keyOf}
        row={(step) => <StepRow step={step} />}
        label="Progress of each resource"
        follow={follow}
        class="seal-steps"
      />
    )
  return (
    <ul aria-label="Progress of each resource">
      {steps.map((step) => (
        <li key={keyOf(step)}>
          <StepRow step={step} />
        </li>
      ))}
    </ul>
  )
}

const keyOf = ({ effect, address }: Step) => `${effect} ${address}`

function describe(done: number, running: number, failed: number, total: number): string {
  if (total === 0) return 'The engine has not begun with a resource yet.'
  const parts = [`${formatNumber(done)} of ${plural(total, 'step')} done`]
  if (running > 0) parts.push(`${formatNumber(running)} under way`)
  if (failed > 0) parts.push(`${formatNumber(failed)} failed or stopped`)
  return `${parts.join(', ')}.`
}

const STATES: Record<Step['state'], [sign: string, word: string, tone: Tone]> = {
  running: ['…', 'under way', 'accent'],
  done: ['✓', 'done', 'good'],
  failed: ['✗', 'failed', 'bad'],
  stopped: ['?', 'not finished', 'warn'],
}

function StepRow({ step: { address, effect, state, took } }: { step: Step }) {
  const [sign, word, tone] = STATES[state]
  return (
    <div class="seal-step">
      <Badge tone={tone}>
        <span aria-hidden="true">{sign}</span> {word}
      </Badge>
      <span>{effect}</span>
      <span class="mono seal-address">{shorten(visibleText(address), 300)}</span>
      <span class="number quiet">{took.slice(0, 12)}</span>
    </div>
  )
}

const MOST_ERRORS = 20

const Errors = ({ errors }: { errors: readonly string[] }) => (
  <details>
    <summary>What the engine refused: {plural(errors.length, 'error')}</summary>
    {errors.slice(0, MOST_ERRORS).map((text, index) => (
      <pre key={index} class="small">
        {shorten(visibleText(text), 4_000)}
      </pre>
    ))}
  </details>
)
