import { PlatformError } from '../../../src/base/errors.ts'
import { withoutIndexes } from '../../../src/plan/addresses.ts'
import { type DriftOperation, describeWritten } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess } from '../../workspace/files/access.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

/** Maximum number of times that a generate round reads and remediates drift. */
const ITERATIONS = 2

/**
 * Brings changes by others to the targeted infrastructure into the code before the review, adds one line for each to
 * the result, and returns the plan of the resulting code. The session's own changes stay. Errors: `DriftCheckFailed`
 * with the engine output when drift cannot be read.
 */
export async function checkDrift(kit: Kit, valid: ValidPlan, conventions: Conventions): Promise<ValidPlan> {
  const before = await kit.run.workspace.head()
  const result = await remediateDrift(kit, {
    valid,
    targets: valid.reference.targets,
    filterSessionChanges: true,
    conventions,
    maxIterations: ITERATIONS,
  })
  if (result.feedback !== null || !result.valid)
    throw new PlatformError('DriftCheckFailed', 502, result.feedback ?? 'engine plan failed')
  if (result.written.length > 0) await recordWritten(kit, result.written, await kit.run.workspace.changedFiles(before))
  return result.valid
}

/** Records the written changes; without a changed file the drift has disappeared by itself. */
async function recordWritten({ run, secrets }: Kit, written: readonly DriftOperation[], files: readonly string[]) {
  if (files.length === 0) return
  const access = createFileAccess(run.context.config, run.workspace)
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await access.read(path).catch(() => '') })))
  const fileOf = ({ address }: DriftOperation): string => {
    const [type = '', name = ''] = withoutIndexes(address).split('.').slice(-2)
    const holders = texts.filter(({ text }) => text.includes(`resource "${type}" "${name}"`))
    const [only] = holders.length === 0 ? texts : holders
    return holders.length > 1 || (holders.length === 0 && texts.length > 1) ? '' : (only?.path ?? '')
  }
  for (const operation of written) run.result.drift.push(secrets.text(describeWritten(operation, fileOf(operation))))
}
