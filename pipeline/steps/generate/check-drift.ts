import { PlatformError } from '../../../src/base/errors.ts'
import type { Kit } from '../../kit/kit.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import type { ValidPlan } from '../shared/plan.ts'

/** How often a generate round reads drift and remediates it at most. */
const ITERATIONS = 2

/**
 * Brings changes that others made to the targeted infrastructure into the code, before the plan is reviewed. What the
 * session itself changed stays as it is. Answers the plan of the code as it is afterwards.
 * Errors: `DriftCheckFailed` with the engine's words when drift cannot be read.
 */
export async function checkDrift(kit: Kit, valid: ValidPlan, conventions: Conventions): Promise<ValidPlan> {
  const result = await remediateDrift(kit, {
    valid,
    targets: valid.reference.targets,
    filterSessionChanges: true,
    conventions,
    maxIterations: ITERATIONS,
  })
  if (result.feedback !== null || !result.valid)
    throw new PlatformError('DriftCheckFailed', 502, result.feedback ?? 'engine plan failed')
  return result.valid
}
