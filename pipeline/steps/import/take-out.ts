import { PlatformError } from '../../../src/base/errors.ts'
import { isNamed, type Misplaced } from '../../../src/plan/imports/compare-imported.ts'
import type { Failure } from '../../../src/plan/imports/pairs.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Ledger } from './ledger.ts'
import { isInState, readMisplaced } from './read-objects.ts'
import { writeState } from './write-state.ts'

/**
 * Takes imports of this round out of the state again of which a plan shows that the object is that of another block.
 * What cannot be taken out, among others where the iac service does not offer it, stays and is noted as misplaced.
 * Errors: `LeaseLost`; the reason of the run's signal.
 * @param plan the one before the imports, which has the names in the blocks
 * @returns `takenOut`; `unknown`: those of which nobody knows yet whether the state has them
 */
export async function takeOutMisplaced(kit: Kit, ledger: Ledger, plan: Plan) {
  const unseen = ledger.imported().filter((one) => !ledger.hasSeen(one.resource_id) && isNamed(plan, one))
  const { seen, misplaced } = await readMisplaced(kit, unseen)
  ledger.noteSeen(seen.filter(({ resource_id }) => misplaced.every((one) => one.resource_id !== resource_id)))
  const found: { takenOut: Failure[]; unknown: Failure[] } = { takenOut: [], unknown: [] }
  const isOffered = misplaced.length > 0 && (await offersRemoval(kit))
  for (const one of misplaced) {
    const isIn = isOffered ? await takeOut(kit, ledger, one) : true
    if (isIn === null) found.unknown.push({ ...one, error: `${one.error}. ${UNKNOWN}` })
    else if (isIn) ledger.noteMisplaced(one)
    else found.takenOut.push(one)
  }
  for (const failure of found.unknown) ledger.fail(failure)
  return found
}

const UNKNOWN = 'It was to be taken out of the state again; whether the state still has it is not known.'

const offersRemoval = ({ run: { context, signal } }: Kit) =>
  context.iac.offers?.('state_rm', signal).catch(() => false) ?? false

/** Takes one import out. Returns whether the state has it afterwards; null when that is not known. */
async function takeOut(kit: Kit, ledger: Ledger, one: Misplaced): Promise<boolean | null> {
  await ledger.beginRemoval(one)
  const isRemoved = await remove(kit, one)
  // When the engine failed or its response was lost, the state shows whether it was removed.
  const isIn = isRemoved ? false : await isInState(kit, one)
  if (isIn === true) await ledger.succeed(one.resource_id)
  if (isIn === false) await ledger.endRemoval(one)
  return isIn
}

async function remove(kit: Kit, { address }: Misplaced): Promise<boolean> {
  try {
    return (await writeState(kit, 'state_rm', { ...kit.engine.scoped, address })).error === null
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    kit.run.log.warn('an import of another object was not taken out of the state', { address, error })
    return false
  }
}
