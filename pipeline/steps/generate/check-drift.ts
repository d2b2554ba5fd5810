import { PlatformError } from '../../../src/base/errors.ts'
import { withoutIndexes } from '../../../src/plan/addresses.ts'
import { type DriftOperation, describeWritten } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess } from '../../workspace/files/access.ts'
import { remediateDrift } from '../drift/remediate-drift.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

/** Largest number of times that a generate round reads and remediates drift. */
const ITERATIONS = 2

/**
 * Brings changes that others made to the targeted infrastructure into the code, before the plan is reviewed. What the
 * session itself changed stays as it is. What was brought into the code is added to the result of the round, one line
 * each. Answers the plan of the code as it is afterwards.
 * Errors: `DriftCheckFailed` with the engine's words when drift cannot be read.
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

/** Without a changed file nothing was written: what differed has gone back by itself. */
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
