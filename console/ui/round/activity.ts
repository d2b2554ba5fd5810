import type { ActivityEvent, AttemptResult, Budget, Round } from '../../client/api/client.ts'

/** The state of a step. `open`: it started, and no end was recorded. */
export type StepState = 'waiting' | 'running' | 'ok' | 'failed' | 'skipped' | 'open'

export interface LaneStep {
  name: string
  state: StepState
  /** The sum of all runs; null before the first one has ended. */
  seconds: number | null
  runs: number
}

type LaneKind = 'request' | 'attempt' | 'converge' | 'report'

/** A part of a round: before the attempts, one attempt, or after them. */
interface Lane {
  key: string
  kind: LaneKind
  /** The task of an attempt: `generate`, `drift`, `import`; empty for other lanes. */
  task: string
  number: number
  max: number | null
  /** The platform's word for why the lane before was not enough. */
  reason: string | null
  began: string
  steps: LaneStep[]
  files: { path: string; added: number; removed: number }[]
  reads: number
  rules: number
}

/** One line of the activity. The result of a chain or an engine step is on the line of its start. */
export interface ActivityLine {
  key: string
  at: string
  kind: 'status' | 'lane' | 'chain' | 'tool' | 'file' | 'engine' | 'rule' | 'artifact' | 'note'
  /** The action in a word: `reads`, `plan`. */
  what: string
  /** The file, rule or message: untrusted text. */
  about: string
  state: StepState
  seconds: number | null
  added: number | null
  removed: number | null
}

interface FoldedActivity {
  lanes: Lane[]
  lines: ActivityLine[]
  /** The tokens of all rounds of the session together. */
  budget: { tokens: number; limit: number } | null
  /** What is left of the operator's budgets, as the last model call left them. */
  budgets: readonly Budget[]
  /** The user who requested the stop. */
  cancelling: string | null
  /** The limit because of which not all events were recorded. */
  cut: 'rows' | 'bytes' | null
}

type LineFacts = Pick<ActivityLine, 'kind' | 'what' | 'about'> & Partial<ActivityLine>

const toLine = (key: string, at: string, facts: LineFacts): ActivityLine => ({
  key,
  at,
  state: 'ok',
  seconds: null,
  added: null,
  removed: null,
  ...facts,
})

function attemptFacts({ task, attempt, max_attempts }: Extract<ActivityEvent, { type: 'attempt.began' }>) {
  const about = `${attempt} of ${max_attempts}`
  if (task === 'converge') return { what: 'drift check', about }
  return { what: 'attempt', about: task === 'generate' ? about : `${about} (${task})` }
}

type Ended = Extract<ActivityEvent, { type: 'chain.ended' | 'engine.ended' }>

/** Writes the end of a chain or a step into the line of its start or, without one, into a new line. */
function finishLine(lines: ActivityLine[], event: Ended): void {
  const { kind, what, about, state } =
    event.type === 'chain.ended'
      ? { kind: 'chain' as const, what: 'model', about: chainName(event.chain), state: event.outcome }
      : { kind: 'engine' as const, what: 'engine', about: engineStep(event), state: outcomeOf(event.exit_code) }
  const line = lines.findLast((known) => known.kind === kind && known.about === about && known.state === 'running')
  if (line) Object.assign(line, { state, seconds: event.seconds })
  else lines.push(toLine(`e${event.id}`, event.at, { kind, what, about, state, seconds: event.seconds }))
}

/** Returns the state of an engine step that ended with this code; null: it was interrupted. */
const outcomeOf = (exit_code: number | null): StepState => (exit_code === 0 ? 'ok' : 'failed')
const engineStep = ({ step }: { step: string }): string => stepName(step).toLowerCase()

/** Merges the status messages of the round into the lines, by time. */
export function withStatuses(lines: readonly ActivityLine[], statuses: Round['statuses']): ActivityLine[] {
  const messages = statuses
    .filter(({ message }, index) => message !== null && message !== statuses[index - 1]?.message)
    .map(({ message, created_at }, index) =>
      toLine(`s${index}-${created_at}`, created_at, { kind: 'status', what: 'says', about: message ?? '' }),
    )
  const all: ActivityLine[] = []
  for (const line of lines) {
    // Times are compared as texts, because the API writes them all in the same form.
    while (messages[0] && messages[0].at < line.at) all.push(...messages.splice(0, 1))
    all.push(line)
  }
  return [...all, ...messages]
}

const CHAINS = new Map([
  ['REQUESTS_FILTER', 'checks the request'],
  ['INTENT_CHECK', 'turns the request into conditions'],
  ['PROMPT_COMPOSITOR', 'prepares the task'],
  ['IAC_GENERATOR', 'writes the code'],
  ['TARGET_GENERATOR', 'chooses the targets'],
  ['REPORT_GENERATOR', 'writes the report'],
  ['COMPLIANCE_CHECKER', 'audits the plan'],
  ['TASK_SPLITTER', 'splits the drift into tasks'],
  ['FILTER_DRIFT_EXCEPTIONS', 'sorts out exceptions'],
  ['FILTER_RECONCILIATION', 'compares the remaining differences'],
  ['IMPORT_ADDRESSES', 'names the resources'],
  ['IMPORT_FILTER', 'chooses what to import'],
  ['PR_GENERATOR', 'writes the pull request'],
])

/** The effect of a tool, in a word. A tool that only returns an answer is not here. */
const TOOLS = new Map([
  ['read_file', 'reads'],
  ['list_dir', 'lists'],
  ['bulk_grep_search', 'searches'],
  ['diff_history', 'reads the history'],
  ['resource_schema', 'reads a schema'],
  ['last_plan', 'reads the last plan'],
  ['web_search', 'searches the web'],
  ['write_to_file', 'writes'],
  ['replace_in_file', 'edits'],
  ['delete_file', 'deletes'],
  ['task_complete', 'is done'],
])
const READING = new Set([
  'read_file',
  'list_dir',
  'bulk_grep_search',
  'diff_history',
  'resource_schema',
  'last_plan',
  'web_search',
])

const STEPS = new Map([
  ['generate', 'Write'],
  ['init', 'Prepare'],
  ['validate', 'Validate'],
  ['plan', 'Plan'],
  ['show', 'Read plan'],
  ['import', 'Import'],
  ['check', 'Check'],
  ['apply', 'Apply'],
])

const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ')

/** Returns what a chain does, to follow "the model". An unknown chain keeps its name. */
export const chainName = (chain: string): string => CHAINS.get(chain) ?? plain(chain)
export const stepName = (step: string): string => STEPS.get(step) ?? plain(step)

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
  const folded: FoldedActivity = { lanes: [], lines: [], budget: null, budgets: [], cancelling: null, cut: null }
  for (const event of events) {
    const facts = isShown(event) ? take(folded, event) : null
    if (facts) folded.lines.push(toLine(`e${event.id}`, event.at, facts))
  }
  if (over) for (const lane of folded.lanes) closeLane(lane)
  if (over) for (const line of folded.lines) if (line.state === 'running') line.state = 'open'
  return folded
}

/** Folds an event into the lanes. Returns the facts of its line, null if it has none; an unknown event has its type. */
function take(folded: FoldedActivity, event: ActivityEvent): LineFacts | null {
  switch (event.type) {
    case 'attempt.began':
      openLane(folded, event, event.task === 'converge' ? 'converge' : 'attempt')
      return { kind: 'lane', ...attemptFacts(event) }
    case 'chain.began':
      if (LAST_CHAINS.has(event.chain) && folded.lanes.at(-1)?.kind !== 'report') openLane(folded, event, 'report')
      beginStep(laneOf(folded, event), event.chain)
      return { kind: 'chain', what: 'model', about: chainName(event.chain), state: 'running' }
    case 'chain.ended':
      endStep(folded, event.chain, event.outcome, event.seconds)
      finishLine(folded.lines, event)
      return null
    case 'engine.began':
      beginStep(laneOf(folded, event), event.step)
      return { kind: 'engine', what: 'engine', about: engineStep(event), state: 'running' }
    case 'engine.ended':
      endStep(folded, event.step, outcomeOf(event.exit_code), event.seconds)
      finishLine(folded.lines, event)
      return null
    case 'tool.called':
      laneOf(folded, event).reads += READING.has(event.tool) ? 1 : 0
      return {
        kind: 'tool',
        what: TOOLS.get(event.tool) ?? 'answers',
        about: event.path ?? (TOOLS.has(event.tool) ? '' : plain(event.tool)),
        state: event.outcome === 'ok' ? 'ok' : 'failed',
        seconds: event.seconds,
      }
    case 'file.written':
      writeFile(laneOf(folded, event), event.path, event.lines_added, event.lines_removed)
      return {
        kind: 'file',
        what: 'changed',
        about: event.path,
        added: event.lines_added,
        removed: event.lines_removed,
      }
    case 'rule.found':
      laneOf(folded, event).rules += 1
      return { kind: 'rule', what: event.severity, about: [event.rule, event.address ?? []].flat().join(' ') }
    case 'budget.spent':
      folded.budget = { tokens: event.tokens, limit: event.limit }
      return null
    case 'budget.left':
      folded.budgets = event.budgets
      return null
    case 'round.cancelling':
      folded.cancelling ??= event.by
      return { kind: 'note', what: 'stop', about: `requested by ${event.by}` }
    case 'artifact.uploaded':
      return { kind: 'artifact', what: 'kept', about: `${event.kind}/${event.name}` }
    case 'cut':
      folded.cut = event.limit
      return { kind: 'note', what: 'cut', about: 'From here on, fewer events are recorded.' }
    default:
      return { kind: 'note', what: String((event as { type: unknown }).type), about: '' }
  }
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
