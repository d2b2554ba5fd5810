import { filterDriftExceptions } from '../../../src/chains/filter-drift-exceptions.ts'
import { filterReconciliation } from '../../../src/chains/filter-reconciliation.ts'
import { taskSplitter } from '../../../src/chains/task-splitter.ts'
import { newAddresses } from '../../../src/plan/changes.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { ValidPlan } from '../shared/plan.ts'
import type { DriftResult, DriftTask } from './drift-task.ts'
import type { ExceptionLedger } from './excepted-drift.ts'

/** The texts that end the phase, in the words of the contract. */
export const OWN_CHANGES = "Drift check completed; the remaining differences are this session's own changes."
export const EXCEPTIONS = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

/**
 * Asks models which of the drift that was read has to be remediated: what the session's own changes explain is left
 * out where the task says so, and then what an exception rule covers.
 * @param ledger remembers what the exception filter decided
 * Answers operations in plain language; when there are none, `conclusion` is the status text that says why.
 */
export async function selectGenuineDrift(
  kit: Kit,
  task: DriftTask,
  state: DriftResult,
  { valid, ledger }: { valid: ValidPlan; ledger: ExceptionLedger },
): Promise<{ operations: string[]; conclusion?: string }> {
  const drift = task.filterSessionChanges ? dropNewResources(state.remaining, valid) : state.remaining
  if (drift.length === 0) return { operations: [], conclusion: OWN_CHANGES }
  const operations = await describeGenuineDrift(kit, task, drift)
  if (operations.length === 0) return { operations, conclusion: OWN_CHANGES }
  const filtered = await runChain(kit, filterDriftExceptions, { operations })
  ledger.recordPass(drift, operations, filtered)
  return filtered.operations.length === 0
    ? { operations: [], conclusion: EXCEPTIONS }
    : { operations: filtered.operations }
}

/**
 * Asks models to put drift into plain language and to leave out what the session's own changes explain. The latter is
 * not asked about imported addresses: there the session wrote the code, so that every difference would count as its own
 * change, and the code would never become like the imported resource.
 */
async function describeGenuineDrift(kit: Kit, task: DriftTask, drift: readonly DriftOperation[]): Promise<string[]> {
  const split = (part: readonly DriftOperation[]) => runChain(kit, taskSplitter, { drift: part })
  if (!task.filterSessionChanges) return await split(drift)
  const importedDrift = drift.filter(({ address }) => task.imported?.has(address))
  const others = drift.filter((operation) => !importedDrift.includes(operation))
  const operations = importedDrift.length > 0 ? await split(importedDrift) : []
  const genuine =
    others.length > 0 ? await runChain(kit, filterReconciliation, { operations: await split(others) }) : []
  return [...operations, ...genuine]
}

/**
 * Leaves out resources that the code has and the infrastructure never had, because this session or an older change has
 * not been applied yet. To remediate such a difference would delete the code. The plan itself shows which resources
 * these are, so no model is asked.
 */
function dropNewResources(operations: readonly DriftOperation[], { plan }: ValidPlan): DriftOperation[] {
  const uncreated = newAddresses(plan)
  return operations.filter(({ action, address }) => action !== 'delete resource' || !uncreated.has(address))
}
