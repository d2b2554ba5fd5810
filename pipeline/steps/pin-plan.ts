import { PlatformError } from '../../src/errors.ts'
import type { Kit } from './kit.ts'
import type { ValidPlan } from './plan.ts'

/**
 * Keeps the workspace with its plan for a later apply.
 * Errors: `PlatformError` when the plan is not the one of this workspace as it stands.
 */
export async function pinPlan({ run }: Kit, { reference }: ValidPlan): Promise<void> {
  const { workspace } = run
  const current = reference.workspace === workspace.iac_root && reference.revision === (await workspace.revision())
  if (!current) throw new PlatformError('StalePlan', 500, 'The reviewed plan does not belong to the code as it stands.')
  await workspace.pin()
}
