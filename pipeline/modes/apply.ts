import { LeaseLost, PlatformError } from '../../src/base/errors.ts'
import {
  type ApplyProgress,
  type ApplyResult,
  readApplyProgress,
  recordApplyResult,
} from '../../src/sessions/applies.ts'
import { findPin, type StoredSeal } from '../../src/sessions/pins/seal.ts'
import { type BareKit, createBareKit } from '../kit/kit.ts'
import type { BareMode, BareRun, Outcome, Parked } from '../kit/run.ts'
import { discardDirectory, holdProject } from '../steps/apply/hold-project.ts'
import { movedState, otherEngine, traceInState } from '../steps/apply/refusals.ts'
import { archivedMasks, assertSealed, openDirectory, reviewedPin } from '../steps/apply/reviewed-pin.ts'
import { blocked, submitOnce, waitForApply } from '../steps/apply/run-once.ts'
import { waitForStateLock } from '../steps/apply/state-lock.ts'
import { tellApply } from '../steps/apply/write-apply-report.ts'
import { findPinned, type PinnedDirectory } from '../workspace/pins/pinned.ts'
import { readMasks } from '../workspace/pins/private-files.ts'

/**
 * Applies exactly the reviewed plan, once (contract, section 2.7): no clone, no plan, and no second job,
 * whatever becomes of this worker. Nothing is pinned any more when the round has ended, however it did; the
 * seal goes with the end itself.
 */
export const apply: BareMode = { workspace: false, handle, giveUp }

/** What an apply knows of its pin; nothing of it need be left when an earlier attempt went far. */
interface Applied {
  seal: StoredSeal | null
  directory: PinnedDirectory | null
  progress: ApplyProgress
}

async function handle(run: BareRun): Promise<Outcome | Parked> {
  const kit = createBareKit(run)
  const applied = await lookBack(kit)
  try {
    const result =
      applied.progress.result ?? (await (applied.progress.intended ? takeUp(kit, applied) : begin(kit, applied)))
    if (result === 'parked') return { status: 'parked' }
    await tellApply(kit, result, applied.seal?.changes ?? [])
    await discardDirectory(run, applied.seal, { in_use: result.kind === 'unknown' })
    return { status: 'completed' }
  } catch (error) {
    // The round goes on elsewhere, with this pin.
    if (error instanceof LeaseLost || run.signal.aborted) throw error
    await endInFault(kit, applied, error)
    throw error
  } finally {
    await kit.status.settle().catch(() => {})
  }
}

/** What is left of earlier attempts and of the pin, with what has to be masked. */
async function lookBack({ run, secrets }: BareKit): Promise<Applied> {
  const { context, round } = run
  const progress = await readApplyProgress(context.sql, round.id)
  const found = await findPin(context.sql, round.session.id)
  if (!found || !progress.intended) return { seal: found?.seal ?? null, directory: null, progress }
  const directory = await findPinned(context.config.paths, round.session, found.seal.plan_sha256)
  const here = typeof directory === 'string' ? null : directory
  secrets.add(here ? await readMasks(here.clone) : await archivedMasks(run, found.seal))
  return { seal: found.seal, directory: here, progress }
}

/** Everything before the job, then the job. Errors: those of the steps. */
async function begin(kit: BareKit, applied: Applied): Promise<ApplyResult | 'parked'> {
  const { run, secrets, status } = kit
  await status.show('apply', 'Applying infrastructure changes.')
  if (run.round.session.is_blocked) throw blocked(run.round.session.uuid)
  const pin = await reviewedPin(run)
  const { seal } = pin
  applied.seal = seal
  const held = (await otherEngine(run, seal)) ?? (await holdProject(kit, seal.project_id, applied.progress.waited_s))
  if (held === 'parked') return held
  if (held !== null) return await ended(run, seal, held)
  const directory = await openDirectory(run, pin)
  applied.directory = directory
  secrets.add(await readMasks(directory.clone))
  await waitForStateLock(kit, seal.project_id)
  const moved = await movedState(run, seal, directory)
  if (moved !== null) return await ended(run, seal, moved)
  await assertSealed(run, seal, directory)
  const job_id = await submitOnce(run, seal, directory, () => {
    applied.progress = { ...applied.progress, intended: true }
  })
  return await ended(run, seal, await waitForApply(kit, job_id))
}

/** An earlier attempt was about to submit the job, or did: it is waited for, never repeated. */
async function takeUp(kit: BareKit, { seal, directory, progress }: Applied): Promise<ApplyResult> {
  await kit.status.show('apply', 'Applying infrastructure changes.')
  const { job_id } = progress
  const seen: ApplyResult =
    job_id === null
      ? { kind: 'unknown', reason: 'the worker was interrupted while it handed the job to the iac service.' }
      : await waitForApply(kit, job_id)
  if (seal === null) return seen
  if (seen.kind !== 'unknown' || directory === null) return await ended(kit.run, seal, seen)
  const trace = await traceInState(kit.run, seal, directory)
  return await ended(kit.run, seal, { ...seen, reason: `${seen.reason}${trace}` })
}

/** From here on every attempt tells the same. */
async function ended<Result extends ApplyResult>(
  { context, round }: BareRun,
  seal: StoredSeal,
  result: Result,
): Promise<Result> {
  await recordApplyResult(context.sql, round, seal.project_id, result)
  return result
}

/** The round fails. After the job was, or may have been, submitted the report says what is not known. */
async function endInFault(kit: BareKit, { seal, directory, progress }: Applied, error: unknown): Promise<void> {
  const { run } = kit
  try {
    if (progress.intended) {
      const words = error instanceof PlatformError ? error.message : 'an unexpected error occurred.'
      const trace = seal && directory ? await traceInState(run, seal, directory) : ''
      await tellApply(kit, { kind: 'unknown', reason: `${words}${trace}` }, seal?.changes ?? [], { fails: true })
    }
    await discardDirectory(run, seal, { in_use: progress.intended })
  } catch (fault) {
    if (fault instanceof LeaseLost || run.signal.aborted) throw fault
    run.log.error('a failed apply could not be told completely', { error: fault })
  }
}

/** For a round that is not tried again. */
async function giveUp(run: BareRun): Promise<void> {
  const kit = createBareKit(run)
  const { seal, progress } = await lookBack(kit)
  const unknown: ApplyResult = {
    kind: 'unknown',
    reason: 'the round was interrupted again and again while the engine worked.',
  }
  const result = progress.result ?? (progress.intended ? unknown : null)
  if (result !== null) await tellApply(kit, result, seal?.changes ?? [], { fails: true })
  await discardDirectory(run, seal, { in_use: result?.kind === 'unknown' })
}
