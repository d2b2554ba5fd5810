import type { AgentRequest, Continuation, EndedRun, Tool } from '../../agent/agent-request.ts'
import { contextBudget } from '../../agent/context-budget.ts'
import { askText, runAgent } from '../../agent/run-agent.ts'
import type { Turn } from '../../base/vocabulary.ts'
import type { Context } from '../../context.ts'
import { fence } from '../../prompts/layout.ts'
import type { ChainName } from '../index.ts'
import type { Chain, Reading, TextChain, ToolKind } from './chain.ts'

/** A function for each group that builds its tools. */
export type ToolBuilders<Kind extends ToolKind> = { readonly [Each in Kind]: () => Tool[] | Promise<Tool[]> }

/** The dependencies of every run of a chain. */
export interface ChainHost
  extends Pick<AgentRequest<unknown, ChainName>, 'llm' | 'signal' | 'observe' | 'trace'>,
    Pick<Reading<unknown>, 'log' | 'mask'> {
  config: Pick<Context['config'], 'llm' | 'orchestration'>
}

/** The input of one run of a chain. */
interface ChainInput<Values> {
  values: Values
  /** The text that `system` of the chain returned. */
  system: string
  /** Turns before the query, foreign text fenced. */
  conversation: readonly Turn[]
  /** An earlier run of the chain to continue, in place of `system` and `conversation`. */
  continues?: Continuation
}

/** Lets a model work on a chain within the configured limits. Errors: those of `runAgent`. */
export async function runChain<Values, Answer, Result, Kind extends ToolKind>(
  host: ChainHost & { tools: ToolBuilders<Kind> },
  chain: Omit<Chain<ChainName, Values, Answer, Result, Kind>, 'system' | 'bodies'>,
  input: ChainInput<Values>,
): Promise<Result> {
  return (await runChainOnward(host, chain, input)).result
}

/** Runs a chain that is continued later; returns also the input of the continuation. */
export async function runChainOnward<Values, Answer, Result, Kind extends ToolKind>(
  host: ChainHost & { tools: ToolBuilders<Kind> },
  chain: Omit<Chain<ChainName, Values, Answer, Result, Kind>, 'system' | 'bodies'>,
  { values, system, conversation, continues }: ChainInput<Values>,
): Promise<{ result: Result; ended: EndedRun }> {
  const { config, llm, signal, observe, trace, log, mask } = host
  const tools = await Promise.all((chain.tools ?? []).map((kind) => host.tools[kind]()))
  const { value, messages, queries, memory } = await runAgent<Answer, ChainName>({
    llm,
    chain: chain.name,
    role: chain.role,
    system,
    query: chain.query(values),
    conversation,
    continues,
    tools: tools.flat(),
    resultTool: chain.resultTool(),
    maxTurns: chain.maxTurns ?? config.orchestration.max_tool_agent_executions,
    budget: contextBudget(config.llm, chain.role),
    signal,
    observe,
    trace,
  })
  return { result: chain.read(value, { values, log, mask }), ended: { messages, queries, memory } }
}

/** Requests the text of a chain from the model. Errors: those of the model client. */
export async function askTextChain<Values>(
  { config, llm, signal, observe, trace }: ChainHost,
  chain: TextChain<ChainName, Values>,
  { values, conversation }: Omit<ChainInput<Values>, 'system'>,
): Promise<string> {
  return await askText<ChainName>({
    llm,
    chain: chain.name,
    role: chain.role,
    system: chain.system({}, values),
    query: chain.query(values),
    conversation,
    budget: contextBudget(config.llm, chain.role),
    signal,
    observe,
    trace,
  })
}

/**
 * Fences the user's side of turns as data. An empty side stays empty, because the loop drops the turn.
 * @param earlier number of turns that are of earlier rounds; those after it are of the present one
 */
export const fenceTurns = (turns: readonly Turn[], earlier = turns.length): Turn[] =>
  turns.map(({ user, assistant }, index) => ({
    user: user === '' ? '' : fence(index < earlier ? 'earlier request' : 'present request', user),
    assistant,
  }))
