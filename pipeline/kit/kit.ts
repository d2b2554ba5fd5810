import { secretsOf } from '../../config/mask.ts'
import { contextBudget } from '../../src/agent/context-budget.ts'
import { runAgent } from '../../src/agent/run-agent.ts'
import type { Tool } from '../../src/agent/types.ts'
import type { Turn } from '../../src/base/vocabulary.ts'
import type { LlmClient, ModelRole } from '../../src/llm/types.ts'
import type { RunTrace } from '../../src/observe/trace-types.ts'
import { planCounts } from '../../src/plan/changes.ts'
import { createSecretRegister, type SecretRegister } from '../../src/plan/sensitive.ts'
import { createEngine, type Engine } from './engine.ts'
import type { BareRun, Run } from './run.ts'
import { createStatusWriter, type StatusWriter } from './status.ts'

/** What the steps of one run share beside the run itself. */
export interface BareKit {
  run: BareRun
  secrets: SecretRegister
  /** Masks every message. */
  llm: LlmClient
  status: StatusWriter
  /** Absent where nobody collects spans. */
  trace?: RunTrace
}

/** The same for the steps of a run that works on the code. */
export interface Kit extends BareKit {
  run: Run
  engine: Engine
}

/** Values of the configuration that are shorter than this are too likely to be ordinary words. */
const MIN_CONFIGURED_SECRET = 12

export const createKit = (run: Run): Kit => ({ ...createBareKit(run), run, engine: createEngine(run) })

export function createBareKit(run: BareRun): BareKit {
  const secrets = createSecretRegister(
    secretsOf(run.context.config).filter(({ length }) => length >= MIN_CONFIGURED_SECRET),
  )
  const llm = run.openModel(run, secrets)
  const trace = run.trace?.masked(secrets)
  return { run, secrets: observed(secrets, run), llm, status: createStatusWriter(run, llm, secrets, trace), trace }
}

/** Every plan that is read is learned from. */
const observed = (secrets: SecretRegister, { recording }: BareRun): SecretRegister =>
  recording
    ? {
        ...secrets,
        learn: (plan) => {
          recording.planned(planCounts(plan))
          secrets.learn(plan)
        },
      }
    : secrets

export interface Chain<Result> {
  chain: string
  role: ModelRole
  system: string
  query: string
  conversation?: readonly Turn[]
  tools?: readonly Tool[]
  resultTool: Tool<Result>
}

/** One agent loop with the limits of the configuration; its value. Errors: those of `runAgent`. */
export async function runChain<Result>(
  { run, llm, trace }: Pick<BareKit, 'run' | 'llm' | 'trace'>,
  chain: Chain<Result>,
): Promise<Result> {
  const { value } = await runAgent({
    ...chain,
    llm,
    maxTurns: run.context.config.orchestration.max_tool_agent_executions,
    budget: contextBudget(run.context.config.llm, chain.role),
    signal: run.signal,
    observe: run.observe,
    trace,
  })
  return value
}

/** One body for each name. */
type Bodies<Names extends readonly string[]> = { -readonly [Index in keyof Names]: string }

/**
 * Bodies of the named prompts, in the order of the names, fetched together.
 * Errors: `PlatformError` 404 `Prompt not found: <name>`.
 */
export async function promptBodies<const Names extends readonly string[]>(
  { context, signal }: Run,
  ...names: Names
): Promise<Bodies<Names>> {
  const bodies = await Promise.all(names.map((name) => context.prompts.body(name, signal)))
  const isComplete = (list: string[]): list is string[] & Bodies<Names> => list.length === names.length
  if (!isComplete(bodies)) throw new Error('a prompt body is missing')
  return bodies
}
