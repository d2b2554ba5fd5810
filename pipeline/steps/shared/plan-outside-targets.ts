import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import { type Plan, parsePlan } from '../../../src/plan/plan.ts'
import { type BeyondTargets, changesBeyond } from '../../../src/plan/targets.ts'
import type { EngineResult } from '../../../src/services/iac/types.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { removeRightInside } from '../../workspace/pins/private-files.ts'
import type { ValidPlan } from './plan.ts'

/**
 * Starts a plan of the whole root beside a plan with targets and tells what only the former changes; null
 * without targets. Its plan file is gone when the promise settles, so that it never travels with the pin.
 * A plan that cannot be made is a result. Whoever starts it need not wait at once: a rejection is kept.
 * Errors: `LeaseLost`, the reason of the run's signal.
 */
export function planOutsideTargets(kit: Kit, valid: ValidPlan): Promise<BeyondTargets | null> {
  const started = valid.reference.targets.length === 0 ? Promise.resolve(null) : planBeside(kit, valid)
  started.catch(() => {})
  return started
}

async function planBeside(kit: Kit, valid: ValidPlan): Promise<BeyondTargets> {
  const { run, secrets } = kit
  // Covered by the ignore rules, and a name that no repository holds.
  const plan_file = `whole-root-${crypto.randomUUID().slice(0, 8)}.plan`
  try {
    const whole = await planWholeRoot(kit, plan_file)
    secrets.learn(whole)
    return { made: true, changes: changesBeyond(valid.plan, whole) }
  } catch (error) {
    run.signal.throwIfAborted()
    if (error instanceof LeaseLost) throw error
    const shown = error instanceof PlatformError
    const reason = shown ? shortened(secrets.text(error.message)) : 'an unexpected error occurred.'
    run.log.warn('the whole root could not be planned beside the targets', shown ? { reason } : { error })
    return { made: false, reason }
  } finally {
    await removeRightInside(run.workspace.iac_root, plan_file).catch((error: unknown) =>
      run.log.warn('the plan file of the whole root was not removed', { error }),
    )
  }
}

/** The code was initialised and validated for the plan with targets. Errors: 502 with the engine's words. */
async function planWholeRoot({ run, engine }: Kit, plan_file: string): Promise<Plan> {
  const { scope_id, provider } = run.round.session
  const workspace_path = run.workspace.iac_root
  const body = { workspace_path, scope_id, engine_provider: provider, plan_file, targets: [] }
  succeeded(await runWhenStateIsFree(run, () => engine.run('plan', body)), 'plan')
  return parsePlan(succeeded(await engine.run('show', { workspace_path, plan_file }), 'show').stdout)
}

function succeeded(result: EngineResult, step: string): EngineResult {
  if (result.exit_code === 0) return result
  throw new PlatformError('WholeRootPlanFailed', 502, result.stderr.trim() || `engine ${step} failed`)
}

const MAX_REASON = 300

/** One line without the frame that the engine draws round its errors. */
function shortened(text: string): string {
  const line = text.replaceAll(/[\s│╷╵]+/g, ' ').trim()
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line
}
