import { filterDriftExceptions } from '../../../src/chains/filter-drift-exceptions.ts'
import { filterReconciliation } from '../../../src/chains/filter-reconciliation.ts'
import { taskSplitter } from '../../../src/chains/task-splitter.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { DriftResult, DriftTask } from './drift-task.ts'
import type { ExceptionLedger } from './excepted-drift.ts'
import type { SessionChanges } from './session-changes.ts'

/** Status texts that end the phase. */
export const OWN_CHANGES = "Drift check completed; the remaining differences are this session's own changes."
export const EXCEPTIONS = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

/**
 * Lets models select the drift to remediate: without the session's own changes where the task says so, and without
 * excepted drift. Returns operations in plain language; if there are none, `conclusion` is the status text with the
 * reason. No model is asked when nothing is left.
 */
export async function selectGenuineDrift(
  kit: Kit,
  task: DriftTask,
  { remaining: drift }: DriftResult,
  { session, ledger }: { session: SessionChanges; ledger: ExceptionLedger },
): Promise<{ operations: string[]; conclusion?: string }> {
  if (drift.length === 0) return { operations: [], conclusion: OWN_CHANGES }
  const operations = await describeGenuineDrift(kit, task, { drift, session })
  if (operations.length === 0) return { operations, conclusion: OWN_CHANGES }
  const filtered = await runChain(kit, filterDriftExceptions, { operations })
  ledger.recordPass(drift, operations, filtered)
  return filtered.operations.length === 0
    ? { operations: [], conclusion: EXCEPTIONS }
    : { operations: filtered.operations }
}

/** Lets models describe drift. Own changes are left out, except at imports, whose code is all the session's. */
async function describeGenuineDrift(
  kit: Kit,
  task: DriftTask,
  { drift, session }: { drift: readonly DriftOperation[]; session: SessionChanges },
): Promise<string[]> {
  const split = (part: readonly DriftOperation[]) => runChain(kit, taskSplitter, { drift: part })
  if (!task.filterSessionChanges) return await split(drift)
  const importedDrift = drift.filter(({ address }) => task.imported?.has(address))
  const others = drift.filter((operation) => !importedDrift.includes(operation))
  const operations = importedDrift.length > 0 ? await split(importedDrift) : []
  if (others.length === 0) return operations
  const values = { operations: await split(others), diff: await session.diff() }
  return [...operations, ...(await runChain(kit, filterReconciliation, values))]
}
