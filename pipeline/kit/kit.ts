import { secretsOf } from '../../config/mask.ts'
import type { ToolKind } from '../../src/chains/shared/chain.ts'
import type { ToolBuilders } from '../../src/chains/shared/run-chain.ts'
import type { LlmClient } from '../../src/llm/types.ts'
import type { RunTrace } from '../../src/observe/trace-types.ts'
import { planCounts } from '../../src/plan/changes.ts'
import { createSecretRegister, type SecretRegister } from '../../src/plan/sensitive.ts'
import { createEngine, type Engine } from './engine.ts'
import type { BareRun, Run } from './run.ts'
import { createStatusWriter, type StatusWriter } from './status.ts'
import { createBareTools, createTools } from './tools.ts'

/** What the steps of one run share beside the run itself. */
export interface BareKit {
  run: BareRun
  secrets: SecretRegister
  /** Masks every message. */
  llm: LlmClient
  status: StatusWriter
  /** Tools that chains may be offered. */
  tools: ToolBuilders<'webSearch'>
  /** Absent where nobody collects spans. */
  trace?: RunTrace
}

/** The same for the steps of a run that works on the code. */
export interface Kit extends BareKit {
  run: Run
  engine: Engine
  tools: ToolBuilders<ToolKind>
}

/** Values of the configuration that are shorter than this are too likely to be ordinary words. */
const MIN_CONFIGURED_SECRET = 12

export function createKit(run: Run): Kit {
  const bare = createBareKit(run)
  const engine = createEngine(run)
  return { ...bare, run, engine, tools: createTools(run, bare.llm, engine.schema) }
}

export function createBareKit(run: BareRun): BareKit {
  const secrets = createSecretRegister(
    secretsOf(run.context.config).filter(({ length }) => length >= MIN_CONFIGURED_SECRET),
  )
  const llm = run.openModel(run, secrets)
  const trace = run.trace?.masked(secrets)
  return {
    run,
    secrets: observed(secrets, run),
    llm,
    status: createStatusWriter({ run, llm, secrets, trace }),
    tools: createBareTools(llm),
    trace,
  }
}

/** Every plan that is read is learned from. */
const observed = (secrets: SecretRegister, { recording }: BareRun): SecretRegister =>
  recording
    ? {
        ...secrets,
        learn: (plan) => {
          recording.addPlan(planCounts(plan))
          secrets.learn(plan)
        },
      }
    : secrets
