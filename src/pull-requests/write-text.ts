import { PlatformError } from '../base/errors.ts'
import type { Turn } from '../base/vocabulary.ts'
import { MAX_TITLE, pullRequestText } from '../chains/pull-request-text.ts'
import { fenceEarlierTurns, runChain } from '../chains/shared/run-chain.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/run-trace.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { plainTitle } from './evidence/markdown.ts'
import { writeOwnText } from './own-text.ts'
import { recordOfRounds } from './record-of-rounds.ts'
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
 * Writes title and summary: by the small model, or by code when the model gives no usable answer within the budget.
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

/** Returns the reason for writing by code; null for an error that ends the call, such as refused credentials. */
function whyCodeWrites(error: unknown, budget: AbortSignal): string | null {
  if (error instanceof OutOfBudget || budget.aborted) return 'the model did not answer in time'
  const unusable = ['ToolExecutionsExceeded', 'UnhandledInferenceFinishReason']
  return error instanceof PlatformError && unusable.includes(error.code) ? 'the model wrote nothing usable' : null
}

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
    conversation: fenceEarlierTurns(session.history),
  })
  return { title: plainTitle(title, MAX_TITLE) || UNTITLED, summary }
}
