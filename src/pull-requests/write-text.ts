import { contextBudget } from '../agent/context-budget.ts'
import { runAgent } from '../agent/run-agent.ts'
import { pullRequestTool } from '../agent/sentinels/pull-request.ts'
import type { Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import { fence } from '../prompts/fence.ts'
import { prGeneratorLayout } from '../prompts/layouts/pr-generator.ts'
import { earlierTurns } from '../prompts/queries.ts'
import { plainTitle } from './evidence/markdown.ts'
import { shownRequest } from './shown-request.ts'

const MAX_TITLE = 256
/** For a title of which nothing can be seen. */
const UNTITLED = 'Platform changes'

/**
 * Title (one line of at most 256 characters that refers to nothing) and summary of a pull request, written
 * by the small model. The summary is the model's prose as it came.
 */
export async function writePullRequestText(
  context: Pick<Context, 'config' | 'llm'>,
  session: { first_query: string; history: readonly Turn[] },
  signal: AbortSignal,
  trace?: RunTrace,
): Promise<{ title: string; summary: string }> {
  const { value } = await runAgent({
    llm: context.llm,
    chain: 'PR_GENERATOR',
    role: 'small',
    system: prGeneratorLayout(),
    conversation: earlierTurns(session.history),
    query: `Write title and summary of the pull request for this session. It began with this request:\n${fence('first request', shownRequest(session.first_query, session.history))}`,
    resultTool: pullRequestTool(),
    maxTurns: context.config.orchestration.max_tool_agent_executions,
    budget: contextBudget(context.config.llm, 'small'),
    signal,
    trace,
  })
  return { title: plainTitle(value.title, MAX_TITLE) || UNTITLED, summary: value.description }
}
