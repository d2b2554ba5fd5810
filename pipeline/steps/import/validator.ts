import { importAddresses } from '../../../src/chains/import-chains.ts'
import { actionOf } from '../../../src/plan/actions.ts'
import { identityOf } from '../../../src/plan/imports/inventory.ts'
import {
  checkPairs,
  type Failure,
  findUnplanned,
  importFeedback,
  isInvented,
  type Pair,
} from '../../../src/plan/imports/pairs.ts'
import { describesCode, type Plan } from '../../../src/plan/plan.ts'
import { changesByAddress, isCreated, stateIdentifiers } from '../../../src/plan/planned-changes.ts'
import { findUnplannedBlocks, limitTargets } from '../../../src/plan/targets.ts'
import type { Finding } from '../../kit/findings.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import { type PlanResult, planTargets, type ValidPlan } from '../plan/plan.ts'
import { chooseSessionTargets } from '../plan/targets.ts'
import { importPairs } from './import-pairs.ts'
import type { Ledger } from './ledger.ts'

/** Creates a validator that plans and imports; an attempt is valid when nothing is left to import. */
export function createImportValidator(kit: Kit, ledger: Ledger): () => Promise<Validation<ValidPlan>> {
  const { attempts } = kit
  const session = chooseSessionTargets(kit)
  /** Addresses of imports outside of the targets. */
  const named = new Set<string>()
  const choose = async () => addNamed(addImportedTargets(await session.choose(), ledger), named)
  const choice = { ...session, choose }

  /** Compares the plan with the state, and proposes the next imports. */
  const compare = async (plan: Plan): Promise<{ destroyed: Pair[]; proposals: Pair[] }> => {
    await compareWithState(kit, ledger, plan)
    const destroyed = ledger.imported().filter(({ address }) => isDestroyed(plan, address))
    // Code that would destroy an imported resource is corrected before anything else is imported.
    return { destroyed, proposals: destroyed.length > 0 ? [] : await proposePairs(kit, ledger, plan) }
  }

  /** Plans again with the declared addresses that the proposals name outside of the targets. */
  const planWider = async (planned: ValidPlan, proposals: readonly Pair[]): Promise<PlanResult> => {
    if (planned.reference.targets.length === 0) return planned
    const outside = findUnplanned(proposals, checkContext(kit, ledger, planned.plan))
    if (outside.length === 0) return planned
    kit.run.log.info('the targets were widened to what is imported', { addresses: outside })
    for (const address of outside) named.add(address)
    return planTargets(kit, choice)
  }

  const check = async (plan: Plan, proposals: readonly Pair[]) => {
    const checked = checkPairs(proposals, checkContext(kit, ledger, plan))
    if (checked.foreign > 0)
      kit.run.log.warn('addresses were named for identifiers that are not to be imported', { count: checked.foreign })
    return checked
  }

  return async () => {
    const first = await planTargets(kit, choice)
    if (!first.ok) return first
    const { destroyed, proposals } = await attempts.step('check', () => compare(first.plan))
    const result = await planWider(first, proposals)
    if (!result.ok) return result
    const { text, plan } = result
    const { targets } = result.reference
    const pairs = await attempts.step('check', () => check(plan, proposals))
    const work = () => importPairs(kit, ledger, { plan, pairs: pairs.pairs })
    // Without a pair, the step is not recorded.
    const failures = await (pairs.pairs.length === 0
      ? work()
      : attempts.step('import', work, ({ length }) => length === 0))
    for (const failure of pairs.refused) ledger.fail(failure)
    // Only faults of the code are reported to the generator. For an invented address, a block is missing.
    const refused = pairs.refused.filter((failure) => !isInvented(failure))
    const attempt = { imported: ledger.imported(), failures: [...refused, ...failures], lost: destroyed }
    const failedIds = new Set(attempt.failures.map(({ resource_id }) => resource_id))
    const unaddressed = ledger.pending().filter((id) => !failedIds.has(id))
    const isComplete = destroyed.length === 0 && ledger.pending().length === 0
    await attempts.step('check', async () => isComplete, Boolean)
    attempts.diagnose('import', failures.map(notImported))
    const missing = isComplete ? [] : unaddressed.map(noAddress)
    attempts.diagnose('check', [...destroyed.map(lostBlock), ...refused.map(notImported), ...missing])
    const made = { text, targets, value: result, plan: result }
    return isComplete
      ? { ok: true, ...made }
      : { ok: false, ...made, feedback: importFeedback({ ...attempt, unaddressed }) }
  }
}

const checkContext = (kit: Kit, ledger: Ledger, plan: Plan) => ({
  pending: ledger.pending(),
  plan,
  identity: identityOf(kit.run.round.session.provider),
})

const notImported = ({ address, resource_id, error }: Failure): Finding => ({
  severity: 'error',
  summary: `${resource_id} was not imported.`,
  detail: error,
  address,
})
const lostBlock = ({ address, resource_id }: Pair): Finding => ({
  severity: 'error',
  summary: `The block of ${resource_id}, which is imported, is gone, so that the plan destroys it.`,
  address,
})
const noAddress = (resourceId: string): Finding => ({
  severity: 'error',
  summary: `No resource block of the plan was found for ${resourceId}.`,
})

/** Adds imports to a model's targets to keep them planned. Too many targets become none, the whole root. */
export function addImportedTargets(targets: readonly string[], ledger: Ledger): string[] {
  if (targets.length === 0) return []
  return limitTargets([...targets, ...ledger.imported().map(({ address }) => address)])
}

/** Updates the ledger from the state: imports under another spelling, and imports by others. */
async function compareWithState(kit: Kit, ledger: Ledger, plan: Plan): Promise<void> {
  const toIdentity = identityOf(kit.run.round.session.provider)
  const state = stateIdentifiers(plan)
  const managed = new Map([...state].map(([address, id]) => [toIdentity(id), address]))
  for (const resourceId of ledger.pending()) {
    const address = ledger.addressOf(resourceId)
    const elsewhere = managed.get(toIdentity(resourceId))
    if (address !== null && state.has(address)) await ledger.succeed(resourceId)
    else if (elsewhere !== undefined)
      ledger.markManagedElsewhere(resourceId, `Managed as ${elsewhere} by the time of the import.`)
  }
}

/** Maximum number of blocks outside of the targets that a model is shown. */
const MAX_UNPLANNED = 200

/** Adds names to the targets; no targets, which means the whole root, stay none. */
const addNamed = (targets: string[], named: ReadonlySet<string>): string[] =>
  targets.length === 0 || named.size === 0 ? targets : limitTargets([...targets, ...named])

const isDestroyed = (plan: Plan, address: string) => {
  const change = changesByAddress(plan).get(address)
  return change !== undefined && actionOf(change.change.actions) === 'delete'
}

/** Lets a model find addresses for pending identifiers, unless nothing is left to import to. */
async function proposePairs(kit: Kit, ledger: Ledger, plan: Plan): Promise<Pair[]> {
  const pending = ledger.pending()
  const created = [...changesByAddress(plan).values()].filter(isCreated).map(({ address }) => address)
  const addresses = [...created, ...findUnplannedBlocks(plan).slice(0, MAX_UNPLANNED)]
  if (pending.length === 0 || (addresses.length === 0 && describesCode(plan))) return []
  return runChain(kit, importAddresses, { pendingIds: pending, addresses, diff: await kit.run.workspace.branchDiff() })
}
