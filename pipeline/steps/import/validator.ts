import { PlatformError } from '../../../src/base/errors.ts'
import { writePairsQuery } from '../../../src/chains/iac-generator.ts'
import { importAddresses } from '../../../src/chains/import-chains.ts'
import { actionOf } from '../../../src/plan/actions.ts'
import { awsImportId, providerRegion } from '../../../src/plan/imports/aws-import-forms.ts'
import { checkPairs, isInvented } from '../../../src/plan/imports/check-pairs.ts'
import { matchLiterally } from '../../../src/plan/imports/identity.ts'
import { identityOf } from '../../../src/plan/imports/inventory.ts'
import {
  type Failure,
  findUnplanned,
  importFeedback,
  type Pair,
  type PairContext,
} from '../../../src/plan/imports/pairs.ts'
import { describesCode, type Plan } from '../../../src/plan/plan.ts'
import { changesByAddress, isCreated, stateIdentifiers } from '../../../src/plan/planned-changes.ts'
import { findUnplannedBlocks, limitTargets } from '../../../src/plan/targets.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import type { Finding } from '../../kit/attempts.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import type { Validation } from '../generator/validation.ts'
import { type PlanResult, planTargets, type ValidPlan } from '../plan/plan.ts'
import { chooseSessionTargets } from '../plan/targets.ts'
import { readManagedIds } from './discover.ts'
import type { Ledger } from './ledger.ts'
import { readObjects } from './read-objects.ts'

/**
 * Creates a validator that plans, holds each pair of identifier and block against what is known, and imports. An attempt
 * is valid when nothing is left to import.
 */
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
    ledger.noteForeign(checked.foreign)
    const read = await readObjects(kit, plan, checked.pairs)
    ledger.noteSeen(read.seen)
    const contradicted = new Set(read.failures.map(({ resource_id }) => resource_id))
    return {
      pairs: checked.pairs.filter(({ resource_id }) => !contradicted.has(resource_id)),
      refused: [...checked.refused, ...read.failures],
    }
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
    const imported = ledger.imported()
    const attempt = {
      imported,
      failures: [...refused, ...failures],
      lost: destroyed,
      free: createdIn(plan).flatMap(({ address }) => (imported.some((one) => one.address === address) ? [] : address)),
      foreign: ledger.foreign(),
    }
    const failedIds = new Set(attempt.failures.map(({ resource_id }) => resource_id))
    const unaddressed = ledger.pending().filter((id) => !failedIds.has(id))
    const isComplete = destroyed.length === 0 && ledger.pending().length === 0
    await attempts.step('check', async () => isComplete, Boolean)
    attempts.diagnose('import', failures.map(notImported))
    const missing = isComplete ? [] : unaddressed.map(noAddress)
    attempts.diagnose('check', [...destroyed.map(lostBlock), ...refused.map(notImported), ...missing])
    const made = { text, targets, value: result, plan: result }
    if (isComplete) return { ok: true, ...made }
    const feedback = importFeedback({ ...attempt, unaddressed })
    return { ok: false, ...made, feedback, query: writePairsQuery(feedback) }
  }
}

const checkContext = (kit: Kit, ledger: Ledger, plan: Plan): PairContext => ({
  cloud: kit.run.round.session.provider,
  pending: ledger.pending(),
  plan,
})

const createdIn = (plan: Plan) => [...changesByAddress(plan).values()].filter(isCreated)

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

/** Finds blocks for pending identifiers: by code where the text decides, by a model where anything is left to match. */
async function proposePairs(kit: Kit, ledger: Ledger, plan: Plan): Promise<Pair[]> {
  const created = createdIn(plan)
  const unplanned = findUnplannedBlocks(plan).slice(0, MAX_UNPLANNED)
  // A block that is not planned may have the same name.
  const matched = unplanned.length > 0 ? [] : matchLiterally(kit.run.round.session.provider, ledger.pending(), created)
  const pendingIds = ledger.pending().filter((id) => matched.every(({ resource_id }) => resource_id !== id))
  const free = created.flatMap(({ address }) => (matched.some((one) => one.address === address) ? [] : address))
  const addresses = [...free, ...unplanned]
  if (pendingIds.length === 0 || (addresses.length === 0 && describesCode(plan))) return matched
  const diff = await kit.run.workspace.branchDiff()
  return [...matched, ...(await runChain(kit, importAddresses, { pendingIds, addresses, diff }))]
}

/** Maximum status rows during one list of imports: of 100 imports, every fifth writes one. */
const MAX_ROWS = 20

/**
 * Imports the pairs in sequence, records each in the ledger, and returns the failures. A failed import may have written
 * the state, so the state is listed before it counts. `plan` is the one that creates the addresses. Errors:
 * `StateNotListed`; 504 when the state stays locked; those of the iac client when listing the state.
 */
async function importPairs(kit: Kit, ledger: Ledger, { plan, pairs }: { plan: Plan; pairs: readonly Pair[] }) {
  const commit = await kit.run.workspace.head()
  const failures: Failure[] = []
  const step = Math.max(1, Math.ceil(pairs.length / MAX_ROWS))
  for (const [index, pair] of pairs.entries()) {
    await ledger.begin(pair, commit)
    const { error, isCertain } = await importOne(kit, plan, pair)
    if (error === null) await ledger.succeed(pair.resource_id)
    else failures.push({ ...pair, error })
    // When the engine's response was lost, the state shows whether the import took place.
    if (!isCertain) await ledger.settle(await readManagedIds(kit))
    if ((index + 1) % step === 0 || index + 1 === pairs.length) await showProgress(kit, ledger)
  }
  if (failures.length > 0) await ledger.settle(await readManagedIds(kit))
  const pending = new Set(ledger.pending())
  const remaining = failures.filter(({ resource_id }) => pending.has(resource_id))
  for (const failure of remaining) ledger.fail(failure)
  return remaining
}

const showProgress = ({ status }: Kit, ledger: Ledger) =>
  status.show('validating', `Imported ${ledger.imported().length} of ${ledger.size} resources.`)

/** The result of the import of one resource. */
interface ImportAttempt {
  /** Null on success. */
  error: string | null
  /** True if the engine itself reported the result; false when its response was lost. */
  isCertain: boolean
}

/** Imports one resource; an identifier that AWS rejects, such as an ARN, is repeated in the type's own form. */
async function importOne(kit: Kit, plan: Plan, pair: Pair): Promise<ImportAttempt> {
  const first = await importAs(kit, pair)
  const region = providerRegion(plan, pair.address)
  const other = kit.run.round.session.provider === 'aws' ? awsImportId(pair.address, pair.resource_id, region) : null
  if (first.error === null || !first.isCertain || other === null || !REFUSED_FORM.test(first.error)) return first
  const second = await importAs(kit, { ...pair, resource_id: other })
  const hint = region === null && /@[a-z0-9-]+$/.test(other) ? `\n${NO_REGION}` : ''
  return second.error === null ? second : { ...second, error: `${first.error}\n${second.error}${hint}` }
}

/** Message of AWS provider versions before 6, which do not support a region in an identifier. */
const NO_REGION =
  'The identifier names the region, which only version 6 of the provider understands, because the code does not say ' +
  'in which region the provider of this block works: set its `region` in the code.'

/** Messages about an unknown or malformed identifier. Other failures would recur with another form. */
const REFUSED_FORM = new RegExp(
  [
    'non-existent remote object',
    'unexpected format',
    'malformed',
    '\\binvalid',
    'validation ?(error|exception)',
    '\\bnot ?found',
    '\\bno ?such',
    'does not exist',
    "couldn't find",
    'could not find',
    'must (be|match|have)',
    'failed to satisfy constraint',
    '\\bparsing\\b',
    '\\bARN\\b',
    '\\barn:',
    '\\bidentifier\\b',
  ].join('|'),
  'i',
)

async function importAs(kit: Kit, pair: Pair): Promise<ImportAttempt> {
  const { run, engine, secrets } = kit
  const body = { ...engine.scoped, ...pair }
  const fault: { text: string | null } = { text: null }
  const submit = async (): Promise<EngineResult> => {
    try {
      return await engine.run('import', body)
    } catch (error) {
      run.signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
      run.log.warn('the outcome of an import is not known', { ...pair, error })
      fault.text = error.message
      return { exit_code: 1, stdout: '', stderr: '' }
    }
  }
  const { exit_code, stderr } = await runWhenStateIsFree(run, submit)
  if (exit_code === 0) return { error: null, isCertain: true }
  const error = secrets.text(fault.text ?? (stderr.trim() || 'engine import failed'))
  return { error, isCertain: fault.text === null }
}
