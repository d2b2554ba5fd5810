import { PlatformError } from '../base/errors.ts'
import { cutEnd } from '../base/text.ts'
import { withTimeLimit } from '../base/time.ts'
import type { Mode, Turn } from '../base/vocabulary.ts'
import { MAX_TITLE, pullRequestText } from '../chains/pull-request-text.ts'
import { fenceTurns, runChain } from '../chains/shared/run-chain.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/run-trace.ts'
import { type ChangeList, countsInWords, type ListedChange } from '../plan/change-list.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { bulletList, plainTitle } from './evidence/markdown.ts'
import { actionInWords } from './evidence/sections/plan-section.ts'
import { maskFirstRequest } from './shown-rounds.ts'

/** Replacement of an invisible title. */
const UNTITLED = 'Platform changes'

type TextContext = Pick<Context, 'config' | 'llm' | 'log'>

/** The input of a text; `rounds` are masked, oldest first. */
interface TextSource {
  uuid: string
  first_query: string
  history: readonly Turn[]
  rounds: readonly RoundRow[]
}

interface Text {
  title: string
  summary: string
}

/**
 * Writes title and summary: by the small model, or by code when the model gives no usable answer in time or a
 * budget of `llm.budget` is used up.
 * @param budgetMs milliseconds for the model
 * Errors: those of the model client, and the signal's reason.
 */
export async function writeText(
  context: TextContext,
  told: TextSource,
  { budgetMs, signal, trace }: { budgetMs: number; signal: AbortSignal; trace?: RunTrace | undefined },
): Promise<Text> {
  const budget = new AbortController()
  const late = () => {
    budget.abort()
    return new Error('late')
  }
  const asked = writePullRequestText(context, told, AbortSignal.any([signal, budget.signal]), trace)
  try {
    return await withTimeLimit(budgetMs, asked, late)
  } catch (error) {
    const isLate = budget.signal.aborted
    const unusable = error instanceof PlatformError && UNUSABLE.get(error.code)
    const reason = isLate ? 'the model did not answer in time' : unusable
    // Any other error ends the call, such as refused credentials.
    if (signal.aborted || !reason) throw error
    context.log.warn('code wrote the text of a pull request', { session_id: told.uuid, reason })
    return writeOwnText({ ...told, firstRequest: maskFirstRequest(told.first_query, told.history) })
  }
}

const NOTHING_USABLE = 'the model wrote nothing usable'
/** Errors of the model after which code writes the text, and why. */
const UNUSABLE = new Map([
  ['ToolExecutionsExceeded', NOTHING_USABLE],
  ['UnhandledInferenceFinishReason', NOTHING_USABLE],
  ['BudgetReached', 'a model budget is used up'],
])

/** Asks the small model for a title (one line, at most 256 characters, no references) and a summary, as it came. */
export async function writePullRequestText(
  context: TextContext,
  session: Pick<TextSource, 'first_query' | 'history'> & Partial<Pick<TextSource, 'rounds'>>,
  signal: AbortSignal,
  trace?: RunTrace,
): Promise<Text> {
  const { config, llm, log } = context
  // The stored history is already masked.
  const host = { config, llm, log, signal, trace, mask: (text: string) => text, tools: {} }
  const values = {
    firstRequest: maskFirstRequest(session.first_query, session.history),
    record: recordOfRounds(session.rounds ?? [], session.history),
  }
  const { title, summary } = await runChain(host, pullRequestText, {
    values,
    system: pullRequestText.system({}, values),
    conversation: fenceTurns(session.history),
  })
  return { title: plainTitle(title, MAX_TITLE) || UNTITLED, summary }
}

/** Most changes of a plan that the model sees one by one. */
const MAX_CHANGES = 60

/**
 * Describes for a model what completed rounds did: request, summary, drift written into the code, and planned changes.
 * Facts of the conversation are not repeated; empty when there is nothing to add.
 * @param rounds masked, oldest first
 */
function recordOfRounds(rounds: readonly RoundRow[], history: readonly Turn[]): string {
  const said = (text: string) => history.some(({ user, assistant }) => user === text || assistant.includes(text))
  return rounds
    .filter(({ mode, status }) => mode !== 'apply' && status === 'completed')
    .flatMap(({ number, mode, query, result }) => {
      const lines = [
        ...(said(query) ? [] : [`Request: ${query}`]),
        ...(!result?.summary || said(result.summary) ? [] : [`Built: ${result.summary}`]),
        ...(result?.gaps ?? []).map((line) => `Found by code, whatever else is said: ${line}`),
        ...(result?.drift ?? []).map((line) => `Drift written into the code: ${line}`),
        ...(result?.changes ? describePlan(result.changes) : []),
      ]
      return lines.length > 0 ? [`Round ${number}, ${mode}`, ...lines] : []
    })
    .join('\n')
}

function describePlan({ entries, total, counts }: ChangeList): string[] {
  const shown = entries.slice(0, MAX_CHANGES)
  return [
    `Plan: ${countsInWords(counts)}`,
    ...shown.map(describeChange),
    ...(total > shown.length ? [`and ${total - shown.length} more`] : []),
    ...(counts.move > 0 ? ['A move changes the address of an object; it creates and destroys nothing.'] : []),
    ...(counts.import > 0 ? ['An import takes an existing object into the state; it creates nothing.'] : []),
    ...(counts.forget > 0 ? ['A forgotten object stays, but is no longer managed.'] : []),
  ]
}

function describeChange(change: ListedChange): string {
  const { address, previous_address } = change
  return `- ${actionInWords(change)} ${previous_address === undefined ? '' : `${previous_address} -> `}${address}`
}

/** Longest title that code writes, in UTF-16 units. */
const MAX_OWN_TITLE = 72
const MAX_REQUESTS = 10

/** Titles for blank requests, which mean the whole root. */
const WITHOUT_WORDS: Record<Mode, string> = {
  generate: 'Changes of a session',
  drift: 'Bring the code in line with the infrastructure',
  import: 'Import existing resources',
  apply: 'Changes of a session',
}

/** Writes title and summary from requests and stored results, and says that no model did; not escaped yet. */
export function writeOwnText({
  firstRequest,
  rounds,
  history,
}: Pick<TextSource, 'rounds' | 'history'> & { firstRequest: string }): Text {
  const completed = rounds.filter(({ mode, status }) => mode !== 'apply' && status === 'completed')
  const changes = completed.findLast(({ result }) => result?.changes)?.result?.changes
  const requests = completed.map(({ query, mode }) => (query.trim() === '' ? WITHOUT_WORDS[mode] : query))
  const asked = requests.length > 0 ? requests : [firstRequest]
  const parts = [
    'No model wrote this summary; code put it together from what the session stored.',
    `Requested:\n${bulletList(asked.slice(0, MAX_REQUESTS).map((request) => cutEnd(request.replaceAll(/\s+/g, ' ').trim(), 400)))}`,
    asked.length > MAX_REQUESTS && `and ${asked.length - MAX_REQUESTS} more requests.`,
    changes && `The reviewed plan: ${countsInWords(changes.counts)}.`,
    ...tellWhatWasBuilt(completed, history),
  ]
  return { title: writeTitle(asked, changes?.total), summary: parts.filter(Boolean).join('\n\n') }
}

/** Describes the results of rounds, or the conversation for rounds of older releases. */
function tellWhatWasBuilt(completed: readonly RoundRow[], history: readonly Turn[]): string[] {
  const built = completed.flatMap(({ number, result }) =>
    result?.summary
      ? [`Built in round ${number}, in the words of the model that wrote the code:\n${result.summary}`]
      : [],
  )
  if (built.length > 0) return built
  return history.filter(({ assistant }) => assistant !== '').map(({ assistant }) => `Reported:\n${assistant}`)
}

/** Cuts the first request to leave room for the numbers of later requests and changes. */
function writeTitle([first = '', ...later]: readonly string[], changes: number | undefined): string {
  const counted = [
    later.length > 0 && `${later.length} more request${later.length === 1 ? '' : 's'}`,
    changes !== undefined && `${changes} change${changes === 1 ? '' : 's'}`,
  ].filter(Boolean)
  const tail = counted.length > 0 ? ` (${counted.join(', ')})` : ''
  const words = first.replaceAll(/[`*_~<>[\]|\\]+/g, ' ').replace(/^[\s#>+-]+/, '')
  return `${plainTitle(words, MAX_OWN_TITLE - tail.length) || WITHOUT_WORDS.generate}${tail}`
}
