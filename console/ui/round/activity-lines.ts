import type { ActivityEvent, Round } from '../../client/api/schemas.ts'

/** The state of a step. `open`: it started, and no end was recorded. */
export type StepState = 'waiting' | 'running' | 'ok' | 'failed' | 'skipped' | 'open'

export interface LaneStep {
  name: string
  state: StepState
  /** The sum of all runs; null before the first one has ended. */
  seconds: number | null
  runs: number
}

export type LaneKind = 'request' | 'attempt' | 'converge' | 'report'

/** A part of a round: before the attempts, one attempt, or after them. */
export interface Lane {
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

type LineKind = 'status' | 'lane' | 'chain' | 'tool' | 'file' | 'engine' | 'rule' | 'artifact' | 'note'

/** One line of the activity. The result of a chain or an engine step is on the line of its start. */
export interface ActivityLine {
  key: string
  at: string
  kind: LineKind
  /** The action in a word: `reads`, `plan`. */
  what: string
  /** The file, rule or message: untrusted text. */
  about: string
  state: StepState
  seconds: number | null
  added: number | null
  removed: number | null
}

export interface FoldedActivity {
  lanes: Lane[]
  lines: ActivityLine[]
  /** The tokens of all rounds of the session together. */
  budget: { tokens: number; limit: number } | null
  /** The user who requested the stop. */
  cancelling: string | null
  /** The limit because of which not all events were recorded. */
  cut: 'rows' | 'bytes' | null
}

type LineFacts = Pick<ActivityLine, 'kind' | 'what' | 'about'> & Partial<ActivityLine>

/** Adds the line of an event. An unknown event is shown by the name of its type. */
export function addLine(lines: ActivityLine[], event: ActivityEvent): void {
  lines.push(toLine(`e${event.id}`, event.at, factsOf(event)))
}

const toLine = (key: string, at: string, facts: LineFacts): ActivityLine => ({
  key,
  at,
  state: 'ok',
  seconds: null,
  added: null,
  removed: null,
  ...facts,
})

function factsOf(event: ActivityEvent): LineFacts {
  switch (event.type) {
    case 'attempt.began':
      return { kind: 'lane', ...attemptFacts(event) }
    case 'chain.began':
      return { kind: 'chain', what: 'model', about: chainName(event.chain), state: 'running' }
    case 'engine.began':
      return { kind: 'engine', what: 'engine', about: engineStep(event), state: 'running' }
    case 'tool.called':
      return {
        kind: 'tool',
        what: TOOLS.get(event.tool) ?? 'answers',
        about: event.path ?? (TOOLS.has(event.tool) ? '' : plain(event.tool)),
        state: event.outcome === 'ok' ? 'ok' : 'failed',
        seconds: event.seconds,
      }
    case 'file.written':
      return {
        kind: 'file',
        what: 'changed',
        about: event.path,
        added: event.lines_added,
        removed: event.lines_removed,
      }
    case 'rule.found':
      return { kind: 'rule', what: event.severity, about: [event.rule, event.address ?? []].flat().join(' ') }
    case 'artifact.uploaded':
      return { kind: 'artifact', what: 'kept', about: `${event.kind}/${event.name}` }
    case 'round.cancelling':
      return { kind: 'note', what: 'stop', about: `requested by ${event.by}` }
    case 'cut':
      return { kind: 'note', what: 'cut', about: 'From here on, fewer events are recorded.' }
    default:
      return { kind: 'note', what: String((event as { type: unknown }).type), about: '' }
  }
}

function attemptFacts({ task, attempt, max_attempts }: Extract<ActivityEvent, { type: 'attempt.began' }>) {
  const about = `${attempt} of ${max_attempts}`
  if (task === 'converge') return { what: 'drift check', about }
  return { what: 'attempt', about: task === 'generate' ? about : `${about} (${task})` }
}

type Ended = Extract<ActivityEvent, { type: 'chain.ended' | 'engine.ended' }>

/** Writes the end of a chain or a step into the line of its start or, without one, into a new line. */
export function finishLine(lines: ActivityLine[], event: Ended): void {
  const { kind, what, about, state } =
    event.type === 'chain.ended'
      ? { kind: 'chain' as const, what: 'model', about: chainName(event.chain), state: event.outcome }
      : { kind: 'engine' as const, what: 'engine', about: engineStep(event), state: outcomeOf(event.exit_code) }
  const line = lines.findLast((known) => known.kind === kind && known.about === about && known.state === 'running')
  if (line) Object.assign(line, { state, seconds: event.seconds })
  else lines.push(toLine(`e${event.id}`, event.at, { kind, what, about, state, seconds: event.seconds }))
}

/** Returns the state of an engine step that ended with this code; null: it was interrupted. */
export const outcomeOf = (exit_code: number | null): StepState => (exit_code === 0 ? 'ok' : 'failed')
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

const CHAINS = tableOf({
  REQUESTS_FILTER: 'checks the request',
  INTENT_CHECK: 'turns the request into conditions',
  PROMPT_COMPOSITOR: 'prepares the task',
  IAC_GENERATOR: 'writes the code',
  TARGET_GENERATOR: 'chooses the targets',
  REPORT_GENERATOR: 'writes the report',
  COMPLIANCE_CHECKER: 'audits the plan',
  TASK_SPLITTER: 'splits the drift into tasks',
  FILTER_DRIFT_EXCEPTIONS: 'sorts out exceptions',
  FILTER_RECONCILIATION: 'compares the remaining differences',
  IMPORT_ADDRESSES: 'names the resources',
  IMPORT_FILTER: 'chooses what to import',
  PR_GENERATOR: 'writes the pull request',
})

/** What a tool does, in a word. A tool that only returns an answer is not here. */
const TOOLS = tableOf({
  read_file: 'reads',
  list_dir: 'lists',
  bulk_grep_search: 'searches',
  diff_history: 'reads the history',
  resource_schema: 'reads a schema',
  web_search: 'searches the web',
  write_to_file: 'writes',
  replace_in_file: 'edits',
  delete_file: 'deletes',
  task_complete: 'is done',
})
export const READING = new Set([
  'read_file',
  'list_dir',
  'bulk_grep_search',
  'diff_history',
  'resource_schema',
  'web_search',
])

const STEPS = tableOf({
  generate: 'Write',
  init: 'Prepare',
  validate: 'Validate',
  plan: 'Plan',
  show: 'Read plan',
  import: 'Import',
  check: 'Check',
  apply: 'Apply',
})

function tableOf(names: Record<string, string>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names))
}

const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ')

/** Returns what a chain does, to follow "the model". An unknown chain keeps its name. */
export const chainName = (chain: string): string => CHAINS.get(chain) ?? plain(chain)
export const stepName = (step: string): string => STEPS.get(step) ?? plain(step)
