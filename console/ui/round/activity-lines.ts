import type { ActivityEvent, Round } from '../../client/api/types.ts'
import type { ActivityLine, LineKind, StepState } from './types.ts'
import { chainName, plainName, stepName, toolVerb } from './words.ts'

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
