import { PlatformError } from '../base/errors.ts'
import type { Turn } from '../base/vocabulary.ts'
import { MAX_TITLE, pullRequestText } from '../chains/pull-request-text.ts'
import { fenceEarlierTurns, runChain } from '../chains/shared/run-chain.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { plainTitle } from './evidence/markdown.ts'
import { writeOwnText } from './own-text.ts'
import { recordOfRounds } from './record-of-rounds.ts'
import { maskFirstRequest } from './shown-rounds.ts'

/** For a title of which nothing can be seen. */
const UNTITLED = 'Platform changes'

type TextContext = Pick<Context, 'config' | 'llm' | 'log'>

/** What a text is written from. `rounds` are masked, oldest first. */
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
 * Writes title and summary of a pull request: the small model, or code when the model does not answer within the
 * budget or answers nothing that can be used.
 * @param budgetMs milliseconds for the model
 * Errors: those of the model client, and the signal's reason.
 */
export async function writeText(
  context: TextContext,
  told: TextSource,
  { budgetMs, signal, trace }: { budgetMs: number; signal: AbortSignal; trace?: RunTrace | undefined },
): Promise<Text> {
  const budget = new AbortController()
  const late = Promise.withResolvers<never>()
  late.promise.catch(() => {})
  const timer = setTimeout(() => {
    late.reject(new OutOfBudget())
    budget.abort()
  }, budgetMs)
  const asked = writePullRequestText(context, told, AbortSignal.any([signal, budget.signal]), trace)
  try {
    return await Promise.race([asked, late.promise])
  } catch (error) {
    const reason = whyCodeWrites(error, budget.signal)
    if (signal.aborted || reason === null) throw error
    context.log.warn('code wrote the text of a pull request', { session_id: told.uuid, reason })
    return writeOwnText({ ...told, firstRequest: maskFirstRequest(told.first_query, told.history) })
  } finally {
    clearTimeout(timer)
  }
}

class OutOfBudget extends Error {}

/** Null for an error that ends the call: the model cannot be reached, refuses the credentials, or is broken. */
function whyCodeWrites(error: unknown, budget: AbortSignal): string | null {
  if (error instanceof OutOfBudget || budget.aborted) return 'the model did not answer in time'
  const unusable = ['ToolExecutionsExceeded', 'UnhandledInferenceFinishReason']
  return error instanceof PlatformError && unusable.includes(error.code) ? 'the model wrote nothing usable' : null
}

/**
 * Lets the small model write title (one line of at most 256 characters that refers to nothing) and summary of a pull
 * request. The summary is the model's prose as it came.
 */
export async function writePullRequestText(
  context: TextContext,
  session: Pick<TextSource, 'first_query' | 'history'> & Partial<Pick<TextSource, 'rounds'>>,
  signal: AbortSignal,
  trace?: RunTrace,
): Promise<Text> {
  const { config, llm, log } = context
  // The history of a session is stored with sensitive values masked, so that nothing is left to hide.
  const host = { config, llm, log, signal, trace, mask: (text: string) => text, tools: {} }
  const values = {
    firstRequest: maskFirstRequest(session.first_query, session.history),
    record: recordOfRounds(session.rounds ?? [], session.history),
  }
  const { title, summary } = await runChain(host, pullRequestText, {
    values,
    system: pullRequestText.system({}, values),
    conversation: fenceEarlierTurns(session.history),
  })
  return { title: plainTitle(title, MAX_TITLE) || UNTITLED, summary }
}
