import { PlatformError } from '../../../src/base/errors.ts'
import { awsImportId } from '../../../src/plan/imports/aws-import-id.ts'
import type { Failure, Pair } from '../../../src/plan/imports/pairs.ts'
import type { EngineResult } from '../../../src/services/iac/types.ts'
import { runWhenStateIsFree } from '../../kit/engine.ts'
import type { Kit } from '../../kit/kit.ts'
import { managedIds } from './discover.ts'
import type { Ledger } from './ledger.ts'

/** Status rows of one list of imports, however long it is. */
const MAX_ROWS = 20

/**
 * Imports one pair after the other and keeps the ledger. A failure may come after the state was written, so
 * the state is asked before one counts.
 * Errors: `StateNotListed`; 504 when the state stays locked; those of the iac client when the state cannot be asked.
 */
export async function importPairs(kit: Kit, ledger: Ledger, pairs: readonly Pair[]): Promise<Failure[]> {
  const commit = await kit.run.workspace.head()
  const failures: Failure[] = []
  const step = Math.max(1, Math.ceil(pairs.length / MAX_ROWS))
  for (const [index, pair] of pairs.entries()) {
    await ledger.begin(pair, commit)
    const { error, certain } = await importOne(kit, pair)
    if (error === null) await ledger.succeed(pair.resource_id)
    else failures.push({ ...pair, error })
    // An engine that was lost on the way may have been done: no further import before that is known.
    if (!certain) await ledger.settle(await managedIds(kit))
    if ((index + 1) % step === 0 || index + 1 === pairs.length) await showProgress(kit, ledger)
  }
  if (failures.length > 0) await ledger.settle(await managedIds(kit))
  const pending = new Set(ledger.pending())
  const left = failures.filter(({ resource_id }) => pending.has(resource_id))
  for (const failure of left) ledger.fail(failure)
  return left
}

const showProgress = ({ status }: Kit, ledger: Ledger) =>
  status.show('validating', `Imported ${ledger.imported().length} of ${ledger.size} resources.`)

/** `certain`: the engine itself said how it ended. */
interface Imported {
  error: string | null
  certain: boolean
}

/**
 * The identifier goes to the engine as the inventory named it; where the provider refuses that form, in the
 * form that its type takes.
 */
async function importOne(kit: Kit, pair: Pair): Promise<Imported> {
  const first = await importAs(kit, pair)
  const other = kit.run.round.session.provider === 'aws' ? awsImportId(pair.address, pair.resource_id) : null
  if (first.error === null || !first.certain || other === null || !REFUSED_FORM.test(first.error)) return first
  const second = await importAs(kit, { ...pair, resource_id: other })
  return second.error === null ? second : { ...second, error: `${first.error}\n${second.error}` }
}

/** How provider and cloud say that an identifier is none of theirs: any other failure would only come again. */
const REFUSED_FORM =
  /non-existent remote object|unexpected format|malformed|\binvalid|validation ?(error|exception)|\bnot ?found|\bno ?such|does not exist|couldn't find|could not find|must (be|match|have)|failed to satisfy constraint|\bparsing\b|\bARN\b|\barn:|\bidentifier\b/i

async function importAs(kit: Kit, pair: Pair): Promise<Imported> {
  const { run, engine, secrets } = kit
  const { scope_id, provider } = run.round.session
  const body = { workspace_path: run.workspace.iac_root, scope_id, engine_provider: provider, ...pair }
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
  if (exit_code === 0) return { error: null, certain: true }
  return { error: secrets.text(fault.text ?? (stderr.trim() || 'engine import failed')), certain: fault.text === null }
}
