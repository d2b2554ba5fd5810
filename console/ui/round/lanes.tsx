import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { AttemptResult } from '../../client/api/client.ts'
import { sumSpend } from '../../client/sessions/use-session.ts'
import { Badge, Button, type Tone } from '../kit.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { excerpt, formatNumber, formatSeconds, formatSpend, plural, upperFirst } from '../words.ts'
import { type ActivityLine, chainName, type LaneStep, type MergedLane, type StepState, stepName } from './activity.ts'

interface LanesProps {
  lanes: readonly MergedLane[]
  /** True while the round, and therefore its last lane, is running. */
  running: boolean
}

/** Shows the lanes of a round: each attempt with its steps, files and findings. */
export const Lanes = ({ lanes, running }: LanesProps) => (
  <ol class="round-lanes">
    {lanes.map((lane, index) => (
      <LaneCard key={lane.key} lane={lane} running={running && index === lanes.length - 1} />
    ))}
  </ol>
)

function LaneCard({ lane, running }: { lane: MergedLane; running: boolean }) {
  const { record } = lane
  const outcome = record?.outcome ?? (running ? 'runs' : null)
  return (
    <li class={`round-lane round-lane-${outcome ?? 'over'}`}>
      <div class="round-lane-head">
        <h4>{titleOf(lane)}</h4>
        {outcome && <Outcome outcome={outcome} />}
        <Cost record={record} />
      </div>
      {lane.because && (
        <p class="small quiet">
          <span aria-hidden="true">↳ </span>
          Began because: {excerpt(lane.because, 400)}
        </p>
      )}
      {lane.steps.length > 0 && (
        <ol class="round-steps" aria-label="Steps">
          {lane.steps.map((step) => (
            <Step key={step.name} step={step} />
          ))}
        </ol>
      )}
      <Files lane={lane} />
      {record && record.diagnostics.length > 0 && <Diagnostics record={record} />}
    </li>
  )
}

function titleOf({ kind, number, max, task }: MergedLane): string {
  if (kind === 'request') return 'Before the first attempt'
  if (kind === 'report') return 'Review and report'
  const place = max === null ? number : `${number} of ${max}`
  if (kind === 'converge') return `Drift check ${place}`
  return `Attempt ${place}${task === 'generate' ? '' : ` · ${excerpt(task, 40)}`}`
}

const OUTCOMES: Record<string, [string, Tone]> = {
  accepted: ['Accepted', 'good'],
  continued: ['Continued', 'neutral'],
  refused: ['Refused', 'bad'],
  failed: ['Failed', 'bad'],
  cancelled: ['Stopped', 'warn'],
  interrupted: ['Interrupted', 'warn'],
  runs: ['Running', 'accent'],
}

function Outcome({ outcome }: { outcome: string }) {
  const [name, tone] = OUTCOMES[outcome] ?? [outcome, 'neutral']
  return (
    <Badge tone={tone}>
      {outcome === 'runs' && <span class="dot dot-live" aria-hidden="true" />}
      {name}
    </Badge>
  )
}

function Cost({ record }: { record: AttemptResult | null }) {
  if (record?.input_tokens == null || record.ended_at === null) return null
  const spend = sumSpend([record]) ?? { tokens: 0, cost_usd: null }
  const seconds = (Date.parse(record.ended_at) - Date.parse(record.started_at)) / 1_000
  return (
    <span class="round-lane-cost number small quiet">
      {[formatSeconds(seconds), ...formatSpend(spend)].join(' · ')}
    </span>
  )
}

const STATES: Record<StepState, [sign: string, name: string]> = {
  waiting: ['·', 'waiting'],
  running: ['…', 'running'],
  ok: ['✓', 'done'],
  failed: ['✕', 'failed'],
  skipped: ['–', 'not needed or not reached'],
  open: ['?', 'no end was recorded'],
}

function Step({ step }: { step: LaneStep }) {
  const [sign, name] = STATES[step.state]
  const label = /^[A-Z_]+$/.test(step.name) ? upperFirst(chainName(step.name)) : stepName(step.name)
  return (
    <li class={`round-step round-step-${step.state}`}>
      {step.state === 'running' ? (
        <span class="dot dot-live" aria-hidden="true" />
      ) : (
        <span class="round-step-sign" aria-hidden="true" title={name}>
          {sign}
        </span>
      )}
      <span>{excerpt(label, 60)}</span>
      <span class="unseen">{name}</span>
      {step.seconds !== null && step.seconds >= 0.05 && <span class="number quiet">{formatSeconds(step.seconds)}</span>}
      {step.runs > 1 && <span class="quiet">×{step.runs}</span>}
    </li>
  )
}

const MANY_FILES = 12

function Files({ lane }: { lane: MergedLane }) {
  const { files, reads, rules } = lane
  if (files.length + reads + rules === 0) return null
  return (
    <ul class="round-files small">
      {files.slice(0, MANY_FILES).map(({ path, added, removed }) => (
        <li key={path}>
          <span class="mono">{excerpt(path, 160)}</span> <Lines added={added} removed={removed} />
        </li>
      ))}
      {files.length > MANY_FILES && <li class="quiet">and {plural(files.length - MANY_FILES, 'more file')}</li>}
      {reads > 0 && <li class="quiet">{plural(reads, 'file read')}</li>}
      {rules > 0 && <li class="quiet">{plural(rules, 'rule finding')}</li>}
    </ul>
  )
}

const Lines = ({ added, removed }: { added: number; removed: number }) => (
  <span class="round-lines number">
    <span class="round-added">+{formatNumber(added)}</span> <span class="round-removed">−{formatNumber(removed)}</span>
  </span>
)

type Diagnostic = AttemptResult['diagnostics'][number]

/** Shows the findings of the engine or a check in an attempt. */
function Diagnostics({ record }: { record: AttemptResult }) {
  const more = record.diagnostics_total - record.diagnostics.length
  return (
    <ul class="round-diagnostics" aria-label="What was found">
      {record.diagnostics.map((diagnostic, index) => (
        <li key={index}>
          <Finding {...diagnostic} />
        </li>
      ))}
      {more > 0 && <li class="small quiet">and {plural(more, 'more finding')}</li>}
    </ul>
  )
}

function Finding({ severity, step, summary, detail, file, line, snippet, address, rule }: Diagnostic) {
  return (
    <div class="round-finding">
      <p>
        <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{severity === 'error' ? 'Error' : 'Warning'}</Badge>{' '}
        <b>{excerpt(summary, 400)}</b>
      </p>
      <p class="small quiet">
        {step && <span>{stepName(step)}</span>}
        {file && <span class="mono">{`${excerpt(file, 200)}${line === null ? '' : `:${line}`}`}</span>}
        {address && <span class="mono">{excerpt(address, 200)}</span>}
        {rule && <span class="mono">{excerpt(rule, 80)}</span>}
      </p>
      {detail && <p class="round-detail small">{excerpt(detail, 2_000)}</p>}
      {snippet && <pre class="round-snippet">{excerpt(snippet, 4_000)}</pre>}
    </div>
  )
}

interface StreamProps {
  lines: readonly ActivityLine[]
  /** True while lines are added: the list then follows its end. */
  follow: boolean
}

/** Shows the events of a round, line by line. */
export const ActivityStream = ({ lines, follow }: StreamProps) => (
  <FollowEnd>
    <VirtualList
      items={lines}
      estimate={28}
      keyOf={({ key }) => key}
      row={(line) => <Line line={line} />}
      label="Events, line by line"
      follow={follow}
      class="round-stream"
    />
  </FollowEnd>
)

function Line({ line }: { line: ActivityLine }) {
  return (
    <div class={`round-line round-line-${line.kind}`}>
      <time class="number quiet" dateTime={line.at}>
        {TIME.format(new Date(line.at))}
      </time>
      <span class={`round-what${line.state === 'failed' ? ' round-what-failed' : ''}`}>{excerpt(line.what, 60)}</span>
      <span class={line.kind === 'tool' || line.kind === 'file' ? 'round-about mono' : 'round-about'}>
        {excerpt(line.about, 300)}
      </span>
      {line.added !== null && line.removed !== null && <Lines added={line.added} removed={line.removed} />}
      {line.state === 'failed' && <span class="round-what-failed">{line.kind === 'tool' ? 'refused' : 'failed'}</span>}
      {line.state === 'open' && <span class="quiet">no end</span>}
      {line.state === 'running' && <span class="dot dot-live" role="img" aria-label="running" />}
      {line.seconds !== null && line.seconds >= 0.05 && <span class="number quiet">{formatSeconds(line.seconds)}</span>}
    </div>
  )
}

/** The local time of day in seconds. */
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The distance from the end, in pixels, beyond which the list does not follow it. */
const AWAY = 32

/** Shows a scrolling element with a button to its end, visible while the reader is elsewhere. */
export function FollowEnd({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [away, setAway] = useState(false)
  const jump = () => {
    const scroller = box.current?.firstElementChild
    scroller?.scrollTo({ top: scroller.scrollHeight })
    if (scroller instanceof HTMLElement) scroller.focus({ preventScroll: true })
  }
  const look = (event: Event) => {
    const { scrollHeight, scrollTop, clientHeight } = event.target as HTMLElement
    setAway(scrollHeight - scrollTop - clientHeight > AWAY)
  }
  return (
    <div ref={box} class="round-follow" onScrollCapture={look}>
      {children}
      {away && (
        <Button small class="round-jump" onClick={jump}>
          Jump to the end
        </Button>
      )}
    </div>
  )
}
