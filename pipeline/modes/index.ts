import { allInOrder } from '../../src/base/gate.ts'
import { recordFirstCommit } from '../../src/rounds/run-records.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import { inWorkspace, type Modes, type Outcome, type Run, withOwnBackend } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { findStanding, settleState } from '../steps/plan/existing-state.ts'
import { apply } from './apply.ts'
import { drift, driftPreview } from './drift.ts'
import { generate } from './generate.ts'
import { importPreview, importResources } from './import.ts'

/**
 * Creates a mode that works on code, which ends at once for code that the iac service would not run. Its status rows
 * and output are stored before the round ends.
 */
const onCode = (handle: (kit: Kit) => Promise<Outcome>, preview = handle) =>
  inWorkspace(async (run) => {
    await markBeginning(run)
    const standing = await findStanding(run)
    const kit = createKit(standing.on === 'own' ? withOwnBackend(run) : run)
    return await settleStatusAfter(kit, async () => {
      await allInOrder([run.workspace.opened ?? Promise.resolve(), kit.engine.checkPrograms()])
      return (await settleState(kit, standing)) ?? (await (run.round.preview ? preview(kit) : handle(kit)))
    }).finally(kit.base.stop)
  })

/** Marks where a session begins that works on the default branch, which nothing else tells later rounds. */
async function markBeginning({ context, round, workspace }: Run): Promise<void> {
  if (round.number === 1 && workspace.branch === workspace.defaultBranch)
    await recordFirstCommit(context.sql, round, await workspace.head())
}

export const modes: Modes = {
  generate: onCode(generate),
  drift: onCode(drift, driftPreview),
  import: onCode(importResources, importPreview),
  apply,
}
