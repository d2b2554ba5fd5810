import { importAddresses } from '../../../src/chains/import-addresses.ts'
import { actionOf } from '../../../src/plan/actions.ts'
import { identityOf } from '../../../src/plan/imports/identifiers.ts'
import {
  checkPairs,
  type Failure,
  findUnplanned,
  importFeedback,
  isInvented,
  type Pair,
} from '../../../src/plan/imports/pairs.ts'
import { changesByAddress, isCreated, stateIdentifiers } from '../../../src/plan/imports/planned.ts'
import { describesCode, type Plan } from '../../../src/plan/plan.ts'
import { limitTargets } from '../../../src/plan/targets/complete.ts'
import { findUnplannedBlocks } from '../../../src/plan/targets/unknown.ts'
import type { Finding } from '../../kit/attempts/findings.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Validation } from '../generator/generate-and-validate.ts'
import { type PlanResult, planTargets, type ValidPlan } from '../plan/plan.ts'
import { chooseSessionTargets } from '../plan/session-targets.ts'
import type { TargetChoice } from '../plan/target-choice.ts'
import { importPairs } from './import-pairs.ts'
import type { Ledger } from './ledger.ts'

/**
 * Makes a validator for all attempts of one round. It plans what the session changed, and imports every selected
 * resource that has a block in the code by now. An attempt is valid when nothing is left to import; otherwise the
 * feedback names what is left.
 */
export function createImportValidator(kit: Kit, ledger: Ledger): () => Promise<Validation<ValidPlan>> {
  const session = chooseSessionTargets(kit)
  /** Addresses of imports that the targets did not hold. */
  const named = new Set<string>()
  const choose = async () => addNamed(addImportedTargets(await session.choose(), ledger), named)
  return () => validateImports(kit, ledger, { ...session, choose }, named)
}

async function validateImports(
  kit: Kit,
  ledger: Ledger,
  choice: TargetChoice,
  named: Set<string>,
): Promise<Validation<ValidPlan>> {
  const first = await planTargets(kit, choice)
  if (!first.ok) return toInvalid(first)
  const { destroyed, proposals } = await kit.attempts.step('check', () => compare(kit, ledger, first.plan))
  const result = await planWider(kit, { ledger, choice, named, proposals, planned: first })
  if (!result.ok) return toInvalid(result)
  const pairs = await kit.attempts.step('check', async () => check(kit, ledger, result.plan, proposals))
  const { text } = result
  const { targets } = result.reference
  const failures = await importAll(kit, ledger, { plan: result.plan, pairs: pairs.pairs })
  for (const failure of pairs.refused) ledger.fail(failure)
  // The generator hears what is wrong with its code. Where an address was invented, a block is what is missing.
  const refused = pairs.refused.filter((failure) => !isInvented(failure))
  const attempt = { imported: ledger.imported(), failures: [...refused, ...failures], lost: destroyed }
  const failedIds = new Set(attempt.failures.map(({ resource_id }) => resource_id))
  const unaddressed = ledger.pending().filter((id) => !failedIds.has(id))
  const isComplete = destroyed.length === 0 && ledger.pending().length === 0
  await kit.attempts.step('check', async () => isComplete, Boolean)
  kit.attempts.diagnose('import', failures.map(notImported))
  kit.attempts.diagnose('check', [
    ...destroyed.map(lostBlock),
    ...refused.map(notImported),
    ...(isComplete ? [] : unaddressed.map(noAddress)),
  ])
  return isComplete
    ? { ok: true, text, targets, value: result, plan: result }
    : { ok: false, text, targets, feedback: importFeedback({ ...attempt, unaddressed }), value: result, plan: result }
}

const toInvalid = ({ text, targets, feedback, step }: Extract<PlanResult, { ok: false }>) =>
  ({ ok: false, text, targets, feedback, step }) as const

/** Compares the plan with the state, and proposes what is imported next. */
async function compare(kit: Kit, ledger: Ledger, plan: Plan): Promise<{ destroyed: Pair[]; proposals: Pair[] }> {
  await compareWithState(kit, ledger, plan)
  const destroyed = ledger.imported().filter(({ address }) => isDestroyed(plan, address))
  // Code that would destroy what was imported is corrected first, before anything else is imported.
  const proposals = destroyed.length > 0 ? [] : await proposePairs(kit, ledger, plan)
  return { destroyed, proposals }
}

interface Widening {
  ledger: Ledger
  choice: TargetChoice
  named: Set<string>
  proposals: readonly Pair[]
  planned: ValidPlan
}

/** Plans again with what the proposals name besides the targets, where the code declares it. */
async function planWider(
  kit: Kit,
  { ledger, choice, named, proposals, planned }: Widening,
): Promise<ValidPlan | PlanResult> {
  if (planned.reference.targets.length === 0) return planned
  const outside = findUnplanned(proposals, checkContext(kit, ledger, planned.plan))
  if (outside.length === 0) return planned
  kit.run.log.info('the targets were widened to what is imported', { addresses: outside })
  for (const address of outside) named.add(address)
  return planTargets(kit, choice)
}

const checkContext = (kit: Kit, ledger: Ledger, plan: Plan) => ({
  pending: ledger.pending(),
  plan,
  identity: identityOf(kit.run.round.session.provider),
})

function check(kit: Kit, ledger: Ledger, plan: Plan, proposals: readonly Pair[]) {
  const checked = checkPairs(proposals, checkContext(kit, ledger, plan))
  if (checked.foreign > 0)
    kit.run.log.warn('addresses were named for identifiers that are not to be imported', { count: checked.foreign })
  return checked
}

/** Imports the pairs; without any, the step of the attempt is left out. */
const importAll = (kit: Kit, ledger: Ledger, work: { plan: Plan; pairs: readonly Pair[] }): Promise<Failure[]> =>
  work.pairs.length === 0
    ? importPairs(kit, ledger, work)
    : kit.attempts.step(
        'import',
        () => importPairs(kit, ledger, work),
        ({ length }) => length === 0,
      )

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

/**
 * Adds what was imported to the targets that a model named, so that it stays in the plan. Answers no targets, which
 * means the whole root, when there were none or when there would be too many.
 */
export function addImportedTargets(targets: readonly string[], ledger: Ledger): string[] {
  if (targets.length === 0) return []
  return limitTargets([...targets, ...ledger.imported().map(({ address }) => address)])
}

/**
 * Updates the ledger from the state that the plan was made from. It shows which import of an interrupted attempt took
 * place although the state spells its identifier in another way, and what others have imported meanwhile.
 */
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

/** Blocks beside the targets that a model is told of. */
const MAX_UNPLANNED = 200

/** Targets with these; none, which means the whole root, stay none. */
const addNamed = (targets: string[], named: ReadonlySet<string>): string[] =>
  targets.length === 0 || named.size === 0 ? targets : limitTargets([...targets, ...named])

const isDestroyed = (plan: Plan, address: string) => {
  const change = changesByAddress(plan).get(address)
  return change !== undefined && actionOf(change.change.actions) === 'delete'
}

/**
 * Asks a model for the address of each pending identifier. It is not asked when there is nothing that could be imported
 * to: neither does the plan create anything, nor does the code declare anything beside its targets.
 */
async function proposePairs(kit: Kit, ledger: Ledger, plan: Plan): Promise<Pair[]> {
  const pending = ledger.pending()
  const created = [...changesByAddress(plan).values()].filter(isCreated).map(({ address }) => address)
  const addresses = [...created, ...findUnplannedBlocks(plan).slice(0, MAX_UNPLANNED)]
  if (pending.length === 0 || (addresses.length === 0 && describesCode(plan))) return []
  return runChain(kit, importAddresses, {
    pendingIds: pending,
    addresses,
    diff: await kit.run.workspace.branchDiff(),
  })
}
