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
    const whole = await planWholeRoot(kit, planFile)
    secrets.learn(whole)
    return { made: true, changes: changesBeyond(valid.plan, whole) }
  } catch (error) {
    run.signal.throwIfAborted()
    if (error instanceof LeaseLost) throw error
    const isShowable = error instanceof PlatformError
    const reason = isShowable ? shortenReason(secrets.text(error.message)) : 'an unexpected error occurred.'
    run.log.warn('the whole root could not be planned beside the targets', isShowable ? { reason } : { error })
    return { made: false, reason }
  } finally {
    await removeRightInside(run.workspace.iacRoot, planFile).catch((error: unknown) =>
      run.log.warn('the plan file of the whole root was not removed', { error }),
    )
  }
}

/** Plans the whole root; init and validate have already run. Errors: 502 with the engine output. */
async function planWholeRoot({ run, engine }: Kit, planFile: string): Promise<Plan> {
  const body = { ...engine.scoped, plan_file: planFile, targets: [] }
  requireSuccess(await runWhenStateIsFree(run, () => engine.run('plan', body)), 'plan')
  const shown = await engine.run('show', { ...engine.place, plan_file: planFile })
  return parsePlan(requireSuccess(shown, 'show').stdout)
}

function requireSuccess(result: EngineResult, step: string): EngineResult {
  if (result.exit_code === 0) return result
  throw new PlatformError('WholeRootPlanFailed', 502, result.stderr.trim() || `engine ${step} failed`)
}

const MAX_REASON = 300

/** Shortens a text to one line, without the frame that the engine draws around errors. */
function shortenReason(text: string): string {
  const line = text.replaceAll(/[\s│╷╵]+/g, ' ').trim()
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line
}
