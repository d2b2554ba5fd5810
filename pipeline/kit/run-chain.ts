import type { EndedRun } from '../../src/agent/agent-request.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { Turn } from '../../src/base/vocabulary.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Chain, TextChain, ToolKind } from '../../src/chains/shared/chain.ts'
import {
  askTextChain,
  type ChainHost,
  fenceTurns,
  runChainOnward,
  runChain as runOn,
  type ToolBuilders,
} from '../../src/chains/shared/run-chain.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { RunTrace } from '../../src/observe/run-trace.ts'
import type { BareRun } from './run.ts'

export interface ChainKit {
  run: Pick<BareRun, 'context' | 'round' | 'conversation' | 'log' | 'signal' | 'observe' | 'eventLog'>
  secrets: Pick<Masker, 'text'>
  llm: LlmClient
  trace?: RunTrace
}

/**
 * Runs a chain with the tools of the kit. Errors: those of `runAgent`; 404 `Prompt not found: <name>`.
 * @param options.bodies prompt bodies that are already loaded
 * @param options.signal aborts only this run
 */
export async function runChain<Values, Answer, Result, Kind extends ToolKind, Body extends string>(
  kit: ChainKit & { tools: ToolBuilders<Kind> },
  chain: Chain<ChainName, Values, Answer, Result, Kind, Body>,
  values: Values,
  options: { bodies?: Record<Body, string>; signal?: AbortSignal } = {},
): Promise<Result> {
  const system = await renderSystem(kit, chain, values, options.bodies)
  const host = { ...hostOf(kit, options.signal), tools: kit.tools }
  return await announce(kit, chain, () => runOn(host, chain, { values, system, conversation: turnsFor(kit, chain) }))
}

/**
 * Opens a dialogue, in which a chain runs repeatedly in one conversation, with unchanging system text and tools.
 * Errors: 404 `Prompt not found: <name>`.
 */
export async function openDialogue<Values, Answer, Result, Kind extends ToolKind, Body extends string>(
  kit: ChainKit & { tools: ToolBuilders<Kind> },
  chain: Chain<ChainName, Values, Answer, Result, Kind, Body>,
  values: Values,
) {
  const beginning = { system: await renderSystem(kit, chain, values), conversation: turnsFor(kit, chain) }
  const host = { ...hostOf(kit), tools: kit.tools }
  let before: EndedRun | null = null
  return {
    /** Asks the next query, after the assistant's last words of the previous run. Errors: those of `runAgent`. */
    ask: async (values: Values, closing = ''): Promise<Result> => {
      const input = { values, ...beginning, ...(before && { continues: { run: before, closing } }) }
      const { result, ended } = await announce(kit, chain, () => runChainOnward(host, chain, input))
      before = ended
      return result
    },
    /** Allows the model to repeat every call, because something other than its tools changed the workspace. */
    forgetCalls: () => before?.memory.clear(),
  }
}

/** Asks a model for the text of a chain. Errors: those of the model client. */
export async function askForText<Values>(
  kit: ChainKit,
  chain: TextChain<ChainName, Values>,
  values: Values,
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  const input = { values, conversation: turnsFor(kit, chain) }
  return await announce(kit, chain, () => askTextChain(hostOf(kit, options.signal), chain, input))
}

/** Renders the system text of a chain with the current prompt bodies. */
async function renderSystem<Values, Body extends string>(
  kit: ChainKit,
  chain: Pick<Chain<ChainName, Values, never, unknown, ToolKind, Body>, 'bodies' | 'system'>,
  values: Values,
  bodies?: Record<Body, string>,
): Promise<string> {
  return chain.system(bodies ?? (await readBodies(kit, chain, values)), values)
}

/** Reads the prompt bodies of a chain in parallel. Errors: `PlatformError` 404 `Prompt not found: <name>`. */
export async function readBodies<Values, Body extends string>(
  { run: { context, round, signal } }: ChainKit,
  chain: Pick<Chain<ChainName, Values, never, unknown, ToolKind, Body>, 'bodies'>,
  values: Values,
): Promise<Record<Body, string>> {
  const names = Object.entries<string | null>(chain.bodies?.(round.session.provider, values) ?? {})
  const read = names.map(async ([key, name]) => [key, name === null ? '' : await context.prompts.body(name, signal)])
  return Object.fromEntries(await Promise.all(read))
}

/** Records in the event log when the work of a chain begins and how it ends. */
async function announce<T>({ run }: ChainKit, { name }: { name: ChainName }, work: () => Promise<T>): Promise<T> {
  const started = performance.now()
  const end = (outcome: 'ok' | 'failed') => {
    const seconds = Math.round(performance.now() - started) / 1000
    run.eventLog.activity({ type: 'chain.ended', chain: name, outcome, seconds })
  }
  run.eventLog.activity({ type: 'chain.began', chain: name })
  try {
    const result = await work()
    end('ok')
    return result
  } catch (error) {
    end('failed')
    throw error
  }
}

const turnsFor = ({ run }: ChainKit, chain: Pick<TextChain<ChainName, unknown>, 'seesConversation'>): Turn[] =>
  chain.seesConversation ? fenceTurns(run.conversation, run.round.history.length) : []

const hostOf = ({ run, llm, trace, secrets }: ChainKit, signal: AbortSignal = run.signal): ChainHost => ({
  config: run.context.config,
  llm,
  signal,
  observe: run.observe,
  trace,
  log: run.log,
  mask: (text) => secrets.text(text),
})
