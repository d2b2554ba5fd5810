import type { ActivityEvent, AttemptResult } from '../../client/api/schemas.ts'
import {
  addLine,
  type FoldedActivity,
  finishLine,
  type Lane,
  type LaneKind,
  type LaneStep,
  outcomeOf,
  READING,
  type StepState,
} from './activity-lines.ts'

/** The chain of status messages, which does not work on the request. */
const NOISE = 'STATUS_UPDATE'
/** The chains that run after the work on the code. */
const LAST_CHAINS = new Set(['REPORT_GENERATOR', 'COMPLIANCE_CHECKER'])
const ATTEMPT_STEPS = ['generate', 'init', 'validate', 'plan', 'check']
const IMPORT_STEPS = ['generate', 'init', 'validate', 'plan', 'import', 'check']

/** True for an event that is a step of a replay. */
export const isShown = (event: ActivityEvent): boolean => !('chain' in event && event.chain === NOISE)

/** Folds events into lanes and lines, also unknown ones. If `over`, steps without an end count as interrupted. */
export function foldActivity(events: readonly ActivityEvent[], over: boolean): FoldedActivity {
  const folded: FoldedActivity = { lanes: [], lines: [], budget: null, cancelling: null, cut: null }
  for (const event of events) if (isShown(event)) take(folded, event)
  if (over) for (const lane of folded.lanes) closeLane(lane)
  if (over) for (const line of folded.lines) if (line.state === 'running') line.state = 'open'
  return folded
}

function take(folded: FoldedActivity, event: ActivityEvent): void {
  switch (event.type) {
    case 'attempt.began':
      openLane(folded, event, event.task === 'converge' ? 'converge' : 'attempt')
      break
    case 'chain.began':
      if (LAST_CHAINS.has(event.chain) && folded.lanes.at(-1)?.kind !== 'report') openLane(folded, event, 'report')
      beginStep(laneOf(folded, event), event.chain)
      break
    case 'chain.ended':
      endStep(folded, event.chain, event.outcome, event.seconds)
      finishLine(folded.lines, event)
      return
    case 'engine.began':
      beginStep(laneOf(folded, event), event.step)
      break
    case 'engine.ended':
      endStep(folded, event.step, outcomeOf(event.exit_code), event.seconds)
      finishLine(folded.lines, event)
      return
    case 'tool.called':
      laneOf(folded, event).reads += READING.has(event.tool) ? 1 : 0
      break
    case 'file.written':
      writeFile(laneOf(folded, event), event.path, event.lines_added, event.lines_removed)
      break
    case 'rule.found':
      laneOf(folded, event).rules += 1
      break
    case 'budget.spent':
      folded.budget = { tokens: event.tokens, limit: event.limit }
      return
    case 'round.cancelling':
      folded.cancelling ??= event.by
      break
    case 'cut':
      folded.cut = event.limit
  }
  addLine(folded.lines, event)
}

const laneOf = (folded: FoldedActivity, event: ActivityEvent): Lane =>
  folded.lanes.at(-1) ?? openLane(folded, event, 'request')

function openLane(folded: FoldedActivity, event: ActivityEvent, kind: LaneKind): Lane {
  const before = folded.lanes.at(-1)
  // A chain of the previous lane may still be running; an attempt never works after the next one starts.
  if (before && kind === 'attempt') closeLane(before)
  const began = event.type === 'attempt.began' ? event : null
  const fixed = kind !== 'attempt' ? [] : began?.task === 'import' ? IMPORT_STEPS : ATTEMPT_STEPS
  const lane: Lane = {
    key: `${kind}-${event.id}`,
    kind,
    task: kind === 'attempt' ? (began?.task ?? '') : '',
    number: began?.attempt ?? 0,
    max: began?.max_attempts ?? null,
    reason: began?.reason ?? null,
    began: event.at,
    steps: fixed.map((name): LaneStep => ({ name, state: 'waiting', seconds: null, runs: 0 })),
    ...nothingCounted(),
  }
  folded.lanes.push(lane)
  return lane
}

const nothingCounted = () => ({ files: [], reads: 0, rules: 0 })

function closeLane(lane: Lane): void {
  for (const step of lane.steps) {
    if (step.state === 'running') step.state = 'open'
    if (step.state === 'waiting') step.state = 'skipped'
  }
}

/** Returns the cell of a lane that shows a chain or an engine step. */
function cellOf(lane: Lane, name: string): string | null {
  if (lane.kind !== 'attempt') return name === 'show' ? 'plan' : name
  if (name === 'IAC_GENERATOR') return 'generate'
  if (name === 'show' || name === 'TARGET_GENERATOR') return 'plan'
  return lane.steps.some((step) => step.name === name) ? name : null
}

function beginStep(lane: Lane, name: string): void {
  const cell = cellOf(lane, name)
  if (cell === null) return
  const step = lane.steps.find((known) => known.name === cell)
  if (!step) lane.steps.push({ name: cell, state: 'running', seconds: null, runs: 1 })
  else {
    step.state = 'running'
    step.runs += 1
  }
}

/** Ends a step in the newest lane where it runs or, if its start was lost, in the last lane. */
function endStep(folded: FoldedActivity, name: string, outcome: StepState, seconds: number): void {
  const runs = (lane: Lane) => lane.steps.some((step) => step.name === cellOf(lane, name) && step.state === 'running')
  const lane = folded.lanes.findLast(runs) ?? folded.lanes.at(-1)
  const step = lane?.steps.find((known) => known.name === cellOf(lane, name))
  if (!step) return
  step.state = outcome
  step.seconds = (step.seconds ?? 0) + seconds
}

function writeFile(lane: Lane, path: string, added: number, removed: number): void {
  const file = lane.files.find((known) => known.path === path)
  if (!file) lane.files.push({ path, added, removed })
  else {
    file.added += added
    file.removed += removed
  }
}

/** A lane and the record of its attempt. */
export interface MergedLane extends Lane {
  record: AttemptResult | null
  /** The reason for this attempt, as a sentence if there is one. */
  because: string | null
}

/** Merges the lanes with the attempts: the nth of a task is the nth record. Records without events become lanes. */
export function mergeAttempts(lanes: readonly Lane[], attempts: readonly AttemptResult[]): MergedLane[] {
  const left = [...attempts]
  const merged = lanes.map((lane): MergedLane => {
    const index = lane.kind === 'attempt' ? left.findIndex(({ task }) => task === lane.task) : -1
    const [record = null] = index < 0 ? [] : left.splice(index, 1)
    // The recorded steps override the events.
    const steps = record?.outcome && record.steps.length > 0 ? foldSteps(record) : lane.steps
    return { ...lane, steps, record, because: lane.reason }
  })
  for (const record of left) {
    const behind = merged.findIndex(({ began }) => began > record.started_at)
    merged.splice(behind < 0 ? merged.length : behind, 0, laneOfRecord(record))
  }
  return explain(merged)
}

/** Counts reading the plan as planning, so that a lane has few cells. */
function foldSteps({ steps }: AttemptResult): LaneStep[] {
  const show = steps.find(({ name }) => name === 'show')
  return steps
    .filter(({ name }) => name !== 'show')
    .map(({ name, outcome, seconds, runs }) => {
      const isPlan = name === 'plan' && show !== undefined
      const state = isPlan && show.outcome === 'failed' ? 'failed' : outcome
      return { name, state, seconds: runs === 0 ? null : seconds + (isPlan ? show.seconds : 0), runs }
    })
}

const laneOfRecord = (record: AttemptResult): MergedLane => ({
  key: `record-${record.number}`,
  kind: 'attempt',
  task: record.task,
  number: record.number,
  max: null,
  reason: null,
  began: record.started_at,
  steps: foldSteps(record),
  ...nothingCounted(),
  record,
  because: null,
})

function explain(lanes: MergedLane[]): MergedLane[] {
  let before: MergedLane | null = null
  for (const lane of lanes) {
    if (lane.kind !== 'attempt') continue
    if (before?.task === lane.task && before.record?.next_reason) lane.because = before.record.next_reason
    before = lane
  }
  return lanes
}
