import { secretsOf } from '../../config/mask.ts'
import type { Config } from '../../config/types.ts'
import type { ToolKind } from '../../src/chains/shared/chain.ts'
import type { ToolBuilders } from '../../src/chains/shared/run-chain.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { RunTrace } from '../../src/observe/run-trace.ts'
import { planCounts } from '../../src/plan/planned-changes.ts'
import { createSecretRegister, type SecretRegister } from '../../src/plan/sensitive.ts'
import { type Attempts, createAttempts } from './attempts/recorder.ts'
import { createEngine, type Engine } from './engine.ts'
import { createOutputArchive, type OutputArchive } from './output-archive.ts'
import type { BareRun, Run } from './run.ts'
import { createStatusWriter, type StatusWriter } from './status.ts'
import { createSurvey, type Survey } from './survey.ts'
import { createBareTools, createTools } from './tools.ts'

/** Services that all steps of one run share. */
export interface BareKit {
  run: BareRun
  secrets: SecretRegister
  /** The session's models. Every message is masked. */
  llm: LlmClient
  status: StatusWriter
  outputs: OutputArchive
  tools: ToolBuilders<'webSearch'>
  /** Absent while tracing is off. */
  trace?: RunTrace
}

/** Services that the steps of a run on code share. */
export interface Kit extends BareKit {
  run: Run
  engine: Engine
  attempts: Attempts
  survey: Survey
  tools: ToolBuilders<ToolKind>
}

/** Minimum length of a masked value of the configuration; shorter ones may be ordinary words. */
const MIN_CONFIGURED_SECRET = 12

/** Returns the secrets of the configuration that are masked in texts. */
export const maskedSecretsOf = (config: Config): string[] =>
  secretsOf(config).filter(({ length }) => length >= MIN_CONFIGURED_SECRET)

export function createKit(run: Run): Kit {
  const bare = createBareKit(run)
  const engine = createEngine(run, bare)
  return {
    ...bare,
    run,
    engine,
    attempts: createAttempts(run, bare.secrets),
    survey: createSurvey(run),
    tools: createTools(run, bare.llm, engine.schema),
  }
}

export function createBareKit(run: BareRun): BareKit {
  const secrets = createSecretRegister(maskedSecretsOf(run.context.config))
  run.eventLog.maskWith((text) => secrets.text(text))
  const llm = run.openModel(run, secrets)
  const trace = run.trace?.masked(secrets)
  return {
    run,
    secrets: recordPlanCounts(secrets, run),
    llm,
    outputs: createOutputArchive(run, secrets),
    status: createStatusWriter({ run, llm, secrets, trace }),
    tools: createBareTools(llm),
    trace,
  }
}

/** Wraps a secret register so that the counts of every plan it learns from are recorded, if the round is. */
const recordPlanCounts = (secrets: SecretRegister, { recording }: BareRun): SecretRegister =>
  recording
    ? {
        ...secrets,
        learn: (plan) => {
          recording.addPlan(planCounts(plan))
          secrets.learn(plan)
        },
      }
    : secrets
