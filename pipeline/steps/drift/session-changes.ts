import type { DriftOperation } from '../../../src/plan/drift.ts'
import { findOwnChanges } from '../../../src/plan/own-changes/find.ts'
import type { Kit } from '../../kit/kit.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { DriftTask } from './drift-task.ts'

/** Changes of the session before drift was read, without code that was written because of drift. */
export interface SessionChanges {
  /** Returns the diff of the session's branch; empty when nothing was changed. */
  diff(): Promise<string>
  /** Leaves out what plan and diff show to be the session's own, so that no model has to be asked. */
  withoutOwn(valid: ValidPlan, operations: readonly DriftOperation[]): Promise<DriftOperation[]>
}

export function createSessionChanges(kit: Kit, task: DriftTask): SessionChanges {
  let reading: Promise<string[]> | null = null
  const readDiffs = () => {
    reading ??= readSessionDiffs(kit)
    return reading
  }
  return {
    diff: async () => (await readDiffs())[0] ?? '',
    withoutOwn: async ({ plan }, operations) => {
      if (!task.filterSessionChanges || operations.length === 0) return [...operations]
      const own = new Set(findOwnChanges(plan, operations, await readDiffs()))
      // The session wrote all code of its imports, which would make every difference its own.
      const isOwn = (operation: DriftOperation) =>
        own.has(operation) && (operation.action === 'delete resource' || !task.imported?.has(operation.address))
      return operations.filter((operation) => !isOwn(operation))
    },
  }
}

/** Reads the diffs of the branch and of this run, which alone shows what this run removed again. */
async function readSessionDiffs({ run }: Kit): Promise<string[]> {
  const { workspace, signal, log } = run
  try {
    return [await workspace.branchDiff(), await workspace.branchDiff('run')]
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the diff of the session could not be read', { error })
    return []
  }
}
