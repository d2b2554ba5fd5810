import type { ActivityEvent, Round } from '../../client/api/schemas.ts'

/** How far a step of a lane is. `open`: it began and its end was never told. */
export type StepState = 'waiting' | 'running' | 'ok' | 'failed' | 'skipped' | 'open'

export interface LaneStep {
  name: string
  state: StepState
  /** Over all of its runs; null before the first one has ended. */
  seconds: number | null
  runs: number
}

interface WrittenFile {
  path: string
  added: number
  removed: number
}

export type LaneKind = 'request' | 'attempt' | 'converge' | 'report'

/** A stretch of a round: what stands before the attempts, each attempt, and what comes after them. */
export interface Lane {
  key: string
  kind: LaneKind
  /** What is attempted: `generate`, `drift`, `import`; empty for other lanes. */
  task: string
  number: number
  max: number | null
  /** The platform's word for why the lane before was not enough. */
  reason: string | null
  began: string
  /** When the next lane began; null for the last one. */
  ended: string | null
  steps: LaneStep[]
  files: WrittenFile[]
  reads: number
  rules: number
}

type LineKind = 'status' | 'lane' | 'chain' | 'tool' | 'file' | 'engine' | 'rule' | 'artifact' | 'note'

/** One line of what happened. What a chain or an engine step came to stands in the line of its beginning. */
export interface ActivityLine {
  key: string
  at: string
  kind: LineKind
  /** What was done, in a word of ours: `reads`, `plan`. */
  what: string
  /** Which file, rule or message: text of others. */
  about: string
  state: StepState
  seconds: number | null
  added: number | null
  removed: number | null
}

export interface FoldedActivity {
  lanes: Lane[]
  lines: ActivityLine[]
  /** Tokens of all rounds of the session together. */
  budget: { tokens: number; limit: number } | null
  /** Who asked for the end. */
  cancelling: string | null
  /** The limit behind which the round told less. */
  cut: 'rows' | 'bytes' | null
}

type Told = Pick<ActivityLine, 'kind' | 'what' | 'about'> & Partial<ActivityLine>

/** Adds the line of an event. One of a type that is not known yet is shown by the name of its type. */
export function addLine(lines: ActivityLine[], event: ActivityEvent): void {
  lines.push(toLine(`e${event.id}`, event.at, tell(event)))
}

const toLine = (key: string, at: string, told: Told): ActivityLine => ({
  key,
  at,
  state: 'ok',
  seconds: null,
  added: null,
  removed: null,
  ...told,
})

function tell(event: ActivityEvent): Told {
  switch (event.type) {
    case 'attempt.began':
      return { kind: 'lane', ...tellAttempt(event) }
    case 'chain.began':
      return { kind: 'chain', what: 'model', about: chainName(event.chain), state: 'running' }
    case 'engine.began':
      return { kind: 'engine', what: 'engine', about: stepName(event.step).toLowerCase(), state: 'running' }
    case 'tool.called':
      return {
        kind: 'tool',
        what: toolVerb(event.tool) ?? 'answers',
        about: event.path ?? (toolVerb(event.tool) === null ? plainName(event.tool) : ''),
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
      return {
        kind: 'rule',
        what: event.severity,
        about: `${event.rule}${event.address === null ? '' : ` ${event.address}`}`,
      }
    case 'artifact.uploaded':
      return { kind: 'artifact', what: 'kept', about: `${event.kind}/${event.name}` }
    case 'round.cancelling':
      return { kind: 'note', what: 'stop', about: `asked for by ${event.by}` }
    case 'cut':
      return { kind: 'note', what: 'cut', about: 'From here on only beginnings and ends are told.' }
    default:
      return { kind: 'note', what: String((event as { type: unknown }).type), about: '' }
  }
}

const tellAttempt = (event: Extract<ActivityEvent, { type: 'attempt.began' }>) =>
  event.task === 'converge'
    ? { what: 'drift check', about: `${event.attempt} of ${event.max_attempts}` }
    : { what: 'attempt', about: `${event.attempt} of ${event.max_attempts}${taskSuffix(event.task)}` }

const taskSuffix = (task: string): string => (task === 'generate' ? '' : ` (${task})`)

type Ended = Extract<ActivityEvent, { type: 'chain.ended' | 'engine.ended' }>

/** Writes the end of a chain or a step into the line of its beginning; without one, the end is a line of its own. */
export function finishLine(lines: ActivityLine[], event: Ended): void {
  const isChain = event.type === 'chain.ended'
  const kind: LineKind = isChain ? 'chain' : 'engine'
  const about = isChain ? chainName(event.chain) : stepName(event.step).toLowerCase()
  const state: StepState = isChain ? event.outcome : event.exit_code === 0 ? 'ok' : 'failed'
  const line = lines.findLast((known) => known.kind === kind && known.about === about && known.state === 'running')
  if (line) Object.assign(line, { state, seconds: event.seconds })
  else
    lines.push(
      toLine(`e${event.id}`, event.at, {
        kind,
        what: kind === 'chain' ? 'model' : 'engine',
        about,
        state,
        seconds: event.seconds,
      }),
    )
}

/** The lines with the messages of the round among them, by their time. */
export function withStatuses(lines: readonly ActivityLine[], statuses: Round['statuses']): ActivityLine[] {
  const said = statuses
    .filter(({ message }, index) => message !== null && message !== statuses[index - 1]?.message)
    .map(({ message, created_at }, index) =>
      toLine(`s${index}-${created_at}`, created_at, { kind: 'status', what: 'says', about: message ?? '' }),
    )
  const all: ActivityLine[] = []
  let next = 0
  for (const line of lines) {
    while (next < said.length && isBefore(said[next] as ActivityLine, line)) all.push(said[next++] as ActivityLine)
    all.push(line)
  }
  return [...all, ...said.slice(next)]
}

/** The API writes every time in the same form, so that their texts are in order too. */
const isBefore = (one: ActivityLine, other: ActivityLine): boolean => one.at < other.at

const CHAINS: Record<string, string> = {
  REQUESTS_FILTER: 'checks the request',
  INTENT_CHECK: 'turns the request into conditions',
  PROMPT_COMPOSITOR: 'prepares the task',
  IAC_GENERATOR: 'writes the code',
  TARGET_GENERATOR: 'chooses the targets',
  REPORT_GENERATOR: 'writes the report',
  COMPLIANCE_CHECKER: 'audits the plan',
  TASK_SPLITTER: 'splits what differs into tasks',
  FILTER_DRIFT_EXCEPTIONS: 'sorts out exceptions',
  FILTER_RECONCILIATION: 'compares what is left',
  IMPORT_ADDRESSES: 'names the resources',
  IMPORT_FILTER: 'chooses what to import',
  PR_GENERATOR: 'words the pull request',
}

const TOOLS: Record<string, string> = {
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
}

const STEPS: Record<string, string> = {
  generate: 'Write',
  init: 'Prepare',
  validate: 'Validate',
  plan: 'Plan',
  show: 'Read plan',
  import: 'Import',
  check: 'Check',
  apply: 'Apply',
}

const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ')
const lookUp = (table: Record<string, string>, name: string): string =>
  Object.hasOwn(table, name) ? (table[name] as string) : plain(name)

/** What a chain does, after "the model". Unknown ones keep their own name. */
export const chainName = (chain: string): string => lookUp(CHAINS, chain)
/** What a tool does, in a word; null for one that only hands over an answer, or that is not known. */
const toolVerb = (tool: string): string | null => (Object.hasOwn(TOOLS, tool) ? lookUp(TOOLS, tool) : null)
const plainName = plain
export const stepName = (step: string): string => lookUp(STEPS, step)

const READING = new Set(['read_file', 'list_dir', 'bulk_grep_search', 'diff_history', 'resource_schema', 'web_search'])
export const isReading = (tool: string): boolean => READING.has(tool)
