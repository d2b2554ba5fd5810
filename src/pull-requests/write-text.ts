import type { Turn } from '../base/vocabulary.ts'
import { MAX_TITLE, pullRequestText } from '../chains/pull-request-text.ts'
import { fenceEarlierTurns } from '../chains/shared/conversation.ts'
import { runChain } from '../chains/shared/run-chain.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import { plainTitle } from './evidence/markdown.ts'
import { maskFirstRequest } from './shown-request.ts'

/** For a title of which nothing can be seen. */
const UNTITLED = 'Platform changes'

/**
 * Lets the small model write title (one line of at most 256 characters that refers to nothing) and summary of a pull
 * request. The summary is the model's prose as it came.
 */
export async function writePullRequestText(
  context: Pick<Context, 'config' | 'llm' | 'log'>,
  session: { first_query: string; history: readonly Turn[] },
  signal: AbortSignal,
  trace?: RunTrace,
): Promise<{ title: string; summary: string }> {
  const { config, llm, log } = context
  // The history of a session is stored with sensitive values masked, so that nothing is left to hide.
  const host = { config, llm, log, signal, trace, mask: (text: string) => text, tools: {} }
  const values = { firstRequest: maskFirstRequest(session.first_query, session.history) }
  const { title, summary } = await runChain(host, pullRequestText, {
    values,
    system: pullRequestText.system({}, values),
    conversation: fenceEarlierTurns(session.history),
  })
  return { title: plainTitle(title, MAX_TITLE) || UNTITLED, summary }
}
