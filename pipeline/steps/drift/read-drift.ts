import { PlatformError } from '../../../src/base/errors.ts'
import { driftTargets } from '../../../src/chains/target-generator.ts'
import { type DriftOperation, driftOperations } from '../../../src/plan/drift.ts'
import { hasMatchingTarget } from '../../../src/plan/targets.ts'
import { traceEngine } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { planTargets, type ValidPlan } from '../plan/plan.ts'
import { findObjection } from '../shared/judge-request.ts'
import { readDeclarations } from '../shared/look-at-repository.ts'

/** Drift that was read from a plan, or the engine output when no plan could be made. */
type DriftReading =
  | { ok: true; valid: ValidPlan; operations: DriftOperation[] }
  | { ok: false; text: string; feedback: string }

/**
 * Reads drift from a plan, made again if missing or outdated.
 * @throws `ForeignPlan` 500 for a plan of another workspace; those of `planTargets`, except for an unreadable plan file
 */
export const readDrift = (kit: Kit, valid: ValidPlan | null, targets: string[]): Promise<DriftReading> =>
  traceEngine(
    kit,
    ['drift', describeReference(valid, targets)],
    () => planAndReadDrift(kit, valid, targets),
    (reading) => [reading.ok, reading.ok ? JSON.stringify(reading.operations) : reading.feedback],
  )

/** Describes the plan for a trace, without its directory, which is a path of this machine. */
function describeReference(valid: ValidPlan | null, targets: string[]): string {
  const { plan_file = null, plan_sha256 = null, targets: planned = targets } = valid?.reference ?? {}
  return JSON.stringify({ plan_file, plan_sha256, targets: planned })
}

async function planAndReadDrift(kit: Kit, valid: ValidPlan | null, targets: string[]): Promise<DriftReading> {
  const { workspace } = kit.run
  if (valid && valid.reference.workspace !== workspace.iacRoot)
    throw new PlatformError('ForeignPlan', 500, 'The plan belongs to another workspace.')
  const current = valid && valid.reference.revision === (await workspace.revision()) ? valid : null
  const result = current ?? (await planForDrift(kit, valid?.reference.targets ?? targets))
  if (!result.ok) return result
  return { ok: true, valid: result, operations: driftOperations(result.plan, kit.secrets) }
}

/** Describes targets of which none is in code or state; null when one of them is. */
export function describeUnmatched({ plan, reference: { targets } }: ValidPlan): string | null {
  if (hasMatchingTarget(plan, targets)) return null
  return `Nothing in the code or in the state has one of these addresses: ${targets.join(', ')}`
}

async function planForDrift(kit: Kit, targets: string[]) {
  try {
    return await planTargets(kit, targets)
  } catch (error) {
    return { ok: false as const, text: '', feedback: describeUnreadablePlan(error) }
  }
}

/** Returns the engine output about an unreadable plan file, which counts as a failed plan; else throws. */
export function describeUnreadablePlan(error: unknown): string {
  if (error instanceof PlatformError && error.code === 'EnginePlanUnreadable') return error.message
  throw error
}

/**
 * Lets two models interpret a partial round. Returns the targets, or why nothing is to be done.
 * @throws those of `runAgent`
 */
export async function findRequestedScope(kit: Kit): Promise<{ targets: string[] } | { declined: string }> {
  const request = kit.run.round.query
  const objection = await findObjection(kit, 'drift', readDeclarations(kit))
  if (objection !== null) return { declined: objection }
  const answer = await runChain(kit, driftTargets, { request })
  return answer.fits ? { targets: answer.targets } : { declined: answer.explanation }
}
