import { PlatformError } from '../../../src/base/errors.ts'
import { type Plan, parsePlan } from '../../../src/plan/plan.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import type { EngineResult } from '../../../src/services/iac/types.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { writeOverride } from '../../workspace/backend-override.ts'
import { hashFile } from '../../workspace/pins/private-files.ts'
import type { EngineStep } from './diagnose.ts'

/** Names a plan file and the state of the working tree it was made from. */
export interface PlanReference {
  /** The sidecar's `workspace_path`. */
  workspace: string
  plan_file: string
  targets: string[]
  revision: string
  /** Hash of the plan file right after it was made; null when it cannot be read on this disk. */
  plan_sha256: string | null
}

/** A plan that can be applied. */
export interface ValidPlan {
  ok: true
  /** As the engine printed it, masked. */
  text: string
  reference: PlanReference
  /** Unmasked: for code only. */
  plan: Plan
  /** What a plan of the whole root would do beside it; absent until that is known. */
  beyond?: BeyondTargets | null
}
export type PlanResult = ValidPlan | { ok: false; text: string; feedback: string; step: EngineStep }

type StepResult = { ok: true; result: EngineResult } | { ok: false; step: EngineStep; result: EngineResult }

/**
 * Initialises the workspace when this run has not done so yet, validates and plans it, and reads the plan. A step that
 * fails is no error but a result. Text and feedback are masked with everything that this and earlier plans of the run
 * mark sensitive.
 * @param targets addresses to plan; none plans the whole root
 * Errors: those of the iac client; 504 when the state stays locked; `EnginePlanUnreadable` when the plan file cannot be
 * shown; `PlatformError` 502 when it is no plan document.
 */
export async function planTargets(kit: Kit, targets: string[]): Promise<PlanResult> {
  const span = kit.trace?.engine('plan', JSON.stringify(targets))
  try {
    const result = await planAndRead(kit, targets)
    span?.end(result.ok, result.ok ? result.text : result.feedback)
    return result
  } catch (error) {
    span?.fail(error)
    throw error
  }
}

async function planAndRead(kit: Kit, targets: string[]): Promise<PlanResult> {
  const { run, secrets } = kit
  const planned = await initValidatePlan(kit, targets)
  if (!planned.ok) {
    const text = planned.step === 'plan' ? planned.result.stdout : ''
    return { ok: false, text: secrets.text(text), feedback: secrets.text(feedbackOf(planned)), step: planned.step }
  }
  const plan = await readPlan(kit)
  secrets.learn(plan)
  const reference: PlanReference = {
    workspace: run.workspace.iacRoot,
    plan_file: planFileOf(kit),
    targets,
    revision: await run.workspace.revision(),
    plan_sha256: await hashFile(`${run.workspace.iacRoot}/${planFileOf(kit)}`),
  }
  return { ok: true, text: secrets.text(planned.result.stdout), reference, plan }
}

async function initValidatePlan(kit: Kit, targets: string[]): Promise<StepResult> {
  const wasInitialised = kit.engine.initialised
  const result = await runSteps(kit, targets)
  const initAgain = !result.ok && result.step !== 'init' && wasInitialised && asksForInit(result.result)
  if (!initAgain) return result
  kit.engine.initialised = false
  return await runSteps(kit, targets)
}

async function runSteps(kit: Kit, targets: string[]): Promise<StepResult> {
  const { run, engine } = kit
  const workspacePath = run.workspace.iacRoot
  const scoped = {
    workspace_path: workspacePath,
    scope_id: run.round.session.scope_id,
    engine_provider: run.round.session.provider,
  }
  const init = await initialise(kit)
  if (init !== null) return { ok: false, step: 'init', result: init }
  const validate = await engine.run('validate', { workspace_path: workspacePath })
  if (validate.exit_code !== 0) return { ok: false, step: 'validate', result: validate }
  const plan = await runWhenStateIsFree(run, () =>
    engine.run('plan', { ...scoped, plan_file: planFileOf(kit), targets }),
  )
  return plan.exit_code === 0 ? { ok: true, result: plan } : { ok: false, step: 'plan', result: plan }
}

/** Initialises the workspace when this run has not done so yet. Answers null, or the result of an init that failed. */
export async function initialise({ run, engine }: Kit): Promise<EngineResult | null> {
  if (engine.initialised) return null
  const { session } = run.round
  const workspacePath = run.workspace.iacRoot
  await writeOverride(run.context.config, session, workspacePath, run.log)
  const init = await engine.run('init', {
    workspace_path: workspacePath,
    scope_id: session.scope_id,
    engine_provider: session.provider,
  })
  if (init.exit_code !== 0) return init
  engine.initialised = true
  return null
}

async function readPlan(kit: Kit): Promise<Plan> {
  const result = await kit.engine.run('show', {
    workspace_path: kit.run.workspace.iacRoot,
    plan_file: planFileOf(kit),
  })
  if (result.exit_code === 0) return parsePlan(result.stdout)
  const feedback = kit.secrets.text(feedbackOf({ ok: false, step: 'show', result }))
  throw new PlatformError('EnginePlanUnreadable', 502, feedback)
}

const planFileOf = ({ run }: Kit) => run.context.config.paths.session_plan_filename

const feedbackOf = ({ step, result }: Extract<StepResult, { ok: false }>) =>
  result.stderr.trim() || `engine ${step} failed`

/** Whether the engine says that it needs another init, which it does for new modules, providers and backends. */
const asksForInit = ({ stdout, stderr }: EngineResult) =>
  /\b(terraform|tofu) init\b|module not installed|required plugins are not installed|initialization required/i.test(
    `${stdout}\n${stderr}`,
  )
