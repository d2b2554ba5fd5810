import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import { type Plan, parsePlan } from '../../../src/plan/plan.ts'
import { type BeyondTargets, changesBeyond } from '../../../src/plan/targets.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { removeRightInside } from '../../workspace/files/private-files.ts'
import type { ValidPlan } from './plan.ts'

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
    secrets.learn(whole)
    return { made: true, changes: changesBeyond(valid.plan, whole) }
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

/** Plans a whole root that is initialised. Errors: `EngineRefusal`; those of `Engine.run`; 504 for a locked state. */
export async function planRoot(
  { run, engine }: Kit,
  place: { workspace_path: string; plan_file: string },
): Promise<Plan> {
  const body = { ...engine.scoped, ...place, targets: [] }
  const planned = await runWhenStateIsFree(run, () => engine.run('plan', body))
  if (planned.exit_code !== 0) throw new EngineRefusal(planned, 'plan')
  const shown = await engine.run('show', place)
  if (shown.exit_code !== 0) throw new EngineRefusal(shown, 'show')
  return parsePlan(shown.stdout)
}

const MAX_REASON = 300

/** Describes an error in one masked line, without the engine's frame. Errors: those that have to end the round. */
export function describeRefusal({ run, secrets }: Kit, error: unknown): string {
  run.signal.throwIfAborted()
  if (error instanceof LeaseLost) throw error
  if (!(error instanceof PlatformError)) return 'an unexpected error occurred.'
  const line = secrets
    .text(error.message)
    .replaceAll(/[\s│╷╵]+/g, ' ')
    .trim()
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line
}
