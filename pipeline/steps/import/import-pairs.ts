import { PlatformError } from '../../../src/base/errors.ts'
import { awsImportId, providerRegion } from '../../../src/plan/imports/aws-import-forms.ts'
import type { Failure, Pair } from '../../../src/plan/imports/pairs.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { readManagedIds } from './discover.ts'
import type { Ledger } from './ledger.ts'

/** Maximum status rows during one list of imports: of 100 imports, every fifth writes one. */
const MAX_ROWS = 20

/**
 * Imports the pairs in sequence, records each in the ledger, and returns the failures. A failed import may have written
 * the state, so the state is listed before it counts. `plan` is the one that creates the addresses. Errors:
 * `StateNotListed`; 504 when the state stays locked; those of the iac client when listing the state.
 */
export async function importPairs(kit: Kit, ledger: Ledger, { plan, pairs }: { plan: Plan; pairs: readonly Pair[] }) {
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
