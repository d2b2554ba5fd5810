import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import { driftOperations } from '../../../src/plan/drift.ts'
import { type Plan, parsePlanInSlices } from '../../../src/plan/plan.ts'
import {
  type BeyondTargets,
  changesBeyond,
  readTargetingFault,
  reservedTargets,
  type TargetingFault,
} from '../../../src/plan/targets.ts'
import type { StoredPlan } from '../../../src/reports/artifacts.ts'
import type { EngineResult, EngineRoot } from '../../../src/services/iac/contract.ts'
import type { Ahead } from '../../kit/ahead.ts'
import { describeFault } from '../../kit/engine-fault.ts'
import { traceEngine } from '../../kit/engine-trace.ts'
import type { Kit } from '../../kit/kit.ts'
import { runWhenStateIsFree } from '../../kit/state-lock.ts'
import { LOCAL_STATE_FILE, writeOverride } from '../../workspace/backend-override.ts'
import { hashFile, removeRightInside } from '../../workspace/files/private-files.ts'
import type { EngineStep } from '../generator/diagnose.ts'
import { fixedTargets, type TargetChoice } from './targets.ts'

/** The name of a plan file and the state of its working tree. */
interface PlanReference {
  /** The sidecar's `workspace_path`. */
  workspace: string
  plan_file: string
  targets: string[]
  revision: string
  /** SHA-256 of the new plan file; null when it cannot be read on this disk. */
  plan_sha256: string | null
}

/** A plan that can be applied. */
export interface ValidPlan {
  ok: true
  /** The engine's text, masked. */
  text: string
  reference: PlanReference
  /** Unmasked, for code only. */
  plan: Plan
  /** Changes that only a plan of the whole root has; absent until known. */
  beyond?: BeyondTargets | null
  /** The artifact of its text; absent until stored. */
  stored?: StoredPlan
}
export type PlanResult =
  | ValidPlan
  | {
      ok: false
      text: string
      feedback: string
      step: EngineStep
      /** Empty when the engine failed before targets were chosen. */
      targets: string[]
    }

/** The last step that was run, and its result. */
type StepResult = { step: EngineStep; result: EngineResult }

/**
 * Initialises the workspace if needed, validates the code, chooses targets, plans them, and reads the plan; repeats the
 * plan with better targets when only they are at fault. A failed step is a result, not an error. Text and feedback are
 * masked with the sensitive values of all plans of the run. Errors: those of the iac client and of the choice; 504 when
 * the state stays locked; `EnginePlanUnreadable`; 502 for an invalid plan document.
 * @param targets addresses or their choice; none plans the whole root
 */
export async function planTargets(kit: Kit, targets: readonly string[] | TargetChoice): Promise<PlanResult> {
  const choice = 'choose' in targets ? targets : fixedTargets(kit, targets)
  const attempt: Attempt = { targets: 'choose' in targets ? [] : [...targets], mayInitialise: kit.engine.initialised }
  return await traceEngine(
    kit,
    ['plan', () => JSON.stringify(attempt.targets)],
    () => planAttempt(kit, choice, attempt),
    (result) => [result.ok, result.ok ? result.text : result.feedback],
  )
}

interface Attempt {
  /** The targets known so far. */
  targets: string[]
  /** True if the workspace is initialised once more when the engine asks for it. */
  mayInitialise: boolean
}

/** Maximum repeats of a plan with better targets, before the whole root is planned. */
const MAX_REPEATS = 3

async function planAttempt(kit: Kit, choice: TargetChoice, attempt: Attempt): Promise<PlanResult> {
  const { secrets } = kit
  const checked = await repeatAfterInit(kit, attempt, null)
  if (!isOk(checked.result)) return await describeStep(kit, checked, [])
  attempt.targets = await choice.choose()
  for (let repeats = 0; ; repeats++) {
    const planned = await planOrRefuse(kit, attempt)
    if (!planned.ok) {
      if (!planned.fault) return planned.failure
      const better = repeats < MAX_REPEATS ? await choice.mend(attempt.targets, planned.fault) : attempt.targets
      const isSame = better.length === attempt.targets.length && isPlanned(better, attempt.targets)
      if (isSame) choice.giveUp()
      attempt.targets = isSame ? [] : better
      continue
    }
    const plan = await readPlan(kit)
    await secrets.learn(plan)
    const right = await choice.review(attempt.targets, plan)
    if (repeats < MAX_REPEATS && !isPlanned(right, attempt.targets)) {
      attempt.targets = right
      continue
    }
    if (isPlanned(right, attempt.targets)) attempt.targets = right
    const text = await secrets.textInSlices(planned.result.stdout)
    return { ok: true, text, reference: await refer(kit, attempt.targets), plan }
  }
}

type Planned =
  | { ok: true; result: EngineResult }
  | { ok: false; fault: TargetingFault }
  | { ok: false; fault: null; failure: Extract<PlanResult, { ok: false }> }

/** Plans once. Targets that cannot be addresses are refused here, because not every engine does so. */
async function planOrRefuse(kit: Kit, attempt: Attempt): Promise<Planned> {
  const invalid = reservedTargets(attempt.targets)
  if (invalid.length > 0) return { ok: false, fault: { missing: [], invalid } }
  const planned = await repeatAfterInit(kit, attempt, () => planOnce(kit, attempt.targets))
  if (isOk(planned.result)) return { ok: true, result: planned.result }
  const failure = await describeStep(kit, planned, attempt.targets)
  const fault = attempt.targets.length > 0 ? readTargetingFault(failure.feedback) : null
  return fault ? { ok: false, fault } : { ok: false, fault, failure }
}

/** True if a plan of the second targets covers the first. */
const isPlanned = (targets: readonly string[], planned: readonly string[]): boolean =>
  targets.length === 0 ? planned.length === 0 : targets.every((target) => planned.includes(target))

const refer = async (kit: Kit, targets: string[]): Promise<PlanReference> => ({
  workspace: kit.run.workspace.iacRoot,
  plan_file: planFileOf(kit),
  targets,
  revision: await kit.run.workspace.revision(),
  plan_sha256: await hashFile(`${kit.run.workspace.iacRoot}/${planFileOf(kit)}`),
})

async function describeStep({ secrets }: Kit, failed: StepResult, targets: string[]) {
  const text = await secrets.textInSlices(failed.step === 'plan' ? failed.result.stdout : '')
  const feedback = await secrets.textInSlices(feedbackOf(failed))
  return { ok: false as const, text, feedback, step: failed.step, targets }
}

/** Runs the step, or init and validate without one, and once more per attempt when the engine asks for init. */
async function repeatAfterInit(kit: Kit, attempt: Attempt, step: (() => Promise<StepResult>) | null) {
  const result = await (step?.() ?? initAndValidate(kit))
  if (isOk(result.result) || result.step === 'init' || !attempt.mayInitialise || !asksForInit(result.result))
    return result
  attempt.mayInitialise = false
  kit.engine.initialised = false
  const checked = await initAndValidate(kit)
  return isOk(checked.result) && step ? await step() : checked
}

async function initAndValidate(kit: Kit): Promise<StepResult> {
  const { engine, attempts } = kit
  const init = await initialise(kit)
  if (init !== null) return { step: 'init', result: init }
  const validating = () => engine.run('validate', engine.place)
  return { step: 'validate', result: await attempts.step('validate', validating, isOk) }
}

async function planOnce(kit: Kit, targets: string[]): Promise<StepResult> {
  const { run, engine, attempts } = kit
  const body = { ...engine.scoped, plan_file: planFileOf(kit), targets }
  const planning = () => runWhenStateIsFree(run, () => engine.run('plan', body))
  return { step: 'plan', result: await attempts.step('plan', planning, isOk) }
}

/**
 * Initialises the workspace once per run. Returns null, or the result of a failed init.
 * @param options.ahead frames an init of which it is not known yet whether the round needs it
 */
export async function initialise(
  { run, engine, attempts }: Kit,
  options: { limitS?: number; ahead?: Ahead } = {},
): Promise<EngineResult | null> {
  if (engine.initialised) return null
  await writeOverride(run.context.config, run.round.session, run.workspace.iacRoot, run.log)
  // A state in the repository would make the engine ask whether to copy it.
  if (run.context.stateStore) await removeRightInside(run.workspace.iacRoot, LOCAL_STATE_FILE)
  const init = await attempts.step('init', () => engine.run('init', engine.scoped, options), isOk)
  if (init.exit_code !== 0) return init
  engine.initialised = true
  return null
}

async function readPlan(kit: Kit): Promise<Plan> {
  const body = { ...kit.engine.place, plan_file: planFileOf(kit) }
  const result = await kit.attempts.step('show', () => kit.engine.run('show', body), isOk)
  if (result.exit_code === 0) return await parsePlanInSlices(result.stdout)
  const feedback = await kit.secrets.textInSlices(feedbackOf({ step: 'show', result }))
  throw new PlatformError('EnginePlanUnreadable', 502, feedback)
}

const isOk = ({ exit_code }: EngineResult) => exit_code === 0

const planFileOf = ({ run }: Kit) => run.context.config.paths.session_plan_filename

const feedbackOf = ({ step, result }: StepResult) => result.stderr.trim() || `engine ${step} failed`

/** True if the engine asks for another init, as for new modules, providers and backends. */
const asksForInit = ({ stdout, stderr }: EngineResult) =>
  /\b(terraform|tofu) init\b|module not installed|required plugins are not installed|initialization required/i.test(
    `${stdout}\n${stderr}`,
  )

/**
 * Plans the whole root next to a plan with targets and returns what only the former would change; null for a plan
 * without targets. When the plan fails, the result has the reason. The plan file is removed before the promise settles,
 * so that it is never saved. The promise may be awaited late without an unhandled rejection. Errors: `LeaseLost`; the
 * reason of the run's signal.
 */
export function planOutsideTargets(kit: Kit, valid: ValidPlan): Promise<BeyondTargets | null> {
  const started = valid.reference.targets.length === 0 ? Promise.resolve(null) : planAndCompare(kit, valid)
  started.catch(() => {})
  return started
}

async function planAndCompare(kit: Kit, valid: ValidPlan): Promise<BeyondTargets> {
  const { run, secrets } = kit
  // Random, so that no file of the repository has the name, which the ignore rules cover.
  const planFile = `whole-root-${crypto.randomUUID().slice(0, 8)}.plan`
  try {
    const whole = await planRoot(kit, { ...kit.engine.place, plan_file: planFile })
    await secrets.learn(whole)
    const changes = changesBeyond(valid.plan, whole)
    const addresses = new Set(changes.map(({ address }) => address))
    const operations = driftOperations(whole, secrets).filter(({ address }) => addresses.has(address))
    return { made: true, changes, operations }
  } catch (error) {
    const reason = describeRefusal(kit, error)
    run.log.warn('the whole root could not be planned beside the targets', { error })
    return { made: false, reason }
  } finally {
    await removeRightInside(run.workspace.iacRoot, planFile).catch((error: unknown) =>
      run.log.warn('the plan file of the whole root was not removed', { error }),
    )
  }
}

/** Thrown when the engine rejects the code, with its output. */
export class EngineRefusal extends PlatformError {
  constructor({ stderr }: EngineResult, step: string) {
    super('RootPlanFailed', 502, stderr.trim() || `engine ${step} failed`)
  }
}

/**
 * Plans a root that is initialised, all of it unless it has targets. Errors: `EngineRefusal`; those of `Engine.run`; 504
 * for a locked state, unless it does not wait for that.
 */
export async function planRoot(
  { run, engine }: Kit,
  { targets = [], lock, ...place }: EngineRoot & { plan_file: string; targets?: string[]; lock?: false },
  { waits = true } = {},
): Promise<Plan> {
  const body = { ...engine.scoped, ...place, targets, ...(lock === false && { lock }) }
  const plan = () => engine.run('plan', body)
  const planned = await (waits ? runWhenStateIsFree(run, plan) : plan())
  if (planned.exit_code !== 0) throw new EngineRefusal(planned, 'plan')
  const shown = await engine.run('show', place)
  if (shown.exit_code !== 0) throw new EngineRefusal(shown, 'show')
  return await parsePlanInSlices(shown.stdout)
}

/** Describes an error in one masked line, without the engine's frame. Errors: those that have to end the round. */
export function describeRefusal({ run, secrets }: Kit, error: unknown): string {
  run.signal.throwIfAborted()
  if (error instanceof LeaseLost) throw error
  return describeFault(error, secrets)
}
