import { PlatformError } from '../../../src/base/errors.ts'
import { fetchArchive } from '../../../src/saved-plans/encrypted-archive.ts'
import { findPin, type StoredSeal } from '../../../src/saved-plans/saved-plan.ts'
import { runJob } from '../../kit/cancellation.ts'
import type { BareRun } from '../../kit/run.ts'
import { writeOverride } from '../../workspace/backend-override.ts'
import { unpackDirectory } from '../../workspace/saved-plans/pack.ts'
import { findPinned, inspectPinned, type PinnedDirectory } from '../../workspace/saved-plans/plan-directory.ts'
import { readMasks } from '../../workspace/saved-plans/private-files.ts'
import { hashWorkspace } from '../../workspace/saved-plans/workspace-hash.ts'
import { writeStateKeys } from '../../workspace/state-keys.ts'

/** The reviewed plan of a session. */
export interface ReviewedPin {
  seal: StoredSeal
  /** The directory that the seal is about; null when it is not on this disk and has to be restored. */
  directory: PinnedDirectory | null
}

const NOT_PINNED = 'No reviewed plan is pinned for this session; run a generate round before applying.'
const ANOTHER = 'The pinned plan is not the reviewed one, so it is not applied; run a generate round before applying.'
const CHANGED =
  'The files beside the pinned plan are not the reviewed ones, so it is not applied; run a generate round before ' +
  'applying.'
const NOT_RESTORED = 'The reviewed plan cannot be restored from the object store; run a generate round before applying.'

const planNotPinned = (message: string, cause?: unknown) => new PlatformError('PlanNotPinned', 409, message, { cause })

/**
 * Looks for the plan that may be applied: the seal of a round that completed, and a directory that agrees with it, on
 * this disk or in the object store.
 * Errors: `PlanNotPinned`.
 */
export async function findReviewedPin({ context, round }: BareRun): Promise<ReviewedPin> {
  const pin = await findPin(context.sql, round.session.id)
  if (!pin?.reviewed) throw planNotPinned(NOT_PINNED)
  const { seal } = pin
  const directory = await findPinned(context.config.paths, round.session, seal.plan_sha256)
  if (typeof directory !== 'string') return { seal, directory }
  if (seal.archive_key !== null && context.config.worker.pin_key !== '') return { seal, directory: null }
  throw planNotPinned(directory === 'another' ? ANOTHER : NOT_PINNED)
}

/**
 * Answers the directory of a pin. When it is not on this disk, it is restored from the object store: unpacked, given
 * the backend override, and initialised, which installs the plugins that the lock file names.
 * Errors: `PlanNotPinned`; 502 with the engine's words; those of the object store and of the iac client.
 */
export async function openDirectory(run: BareRun, { seal, directory }: ReviewedPin): Promise<PinnedDirectory> {
  if (directory !== null) return directory
  const { context, round } = run
  const restored = await unpackDirectory(await fetchSealedArchive(run, seal), context.config.paths, round.session, {
    plan_sha256: seal.plan_sha256,
  }).catch((error: unknown) => {
    throw planNotPinned(NOT_RESTORED, error)
  })
  try {
    await assertSealed(run, seal, restored.directory)
    await initialise(run, restored.directory)
    // The engine wrote into the directory, so its files are compared with the seal again.
    await assertSealed(run, seal, restored.directory)
    run.log.info('the pinned plan was restored from the object store')
    return await restored.pin()
  } catch (error) {
    await restored.remove()
    throw error
  }
}

/**
 * Compares the plan file with the seal, and the files beside it, such as modules and archives, which an apply reads as
 * well. Seals from before the latter were hashed have no hash of them.
 * Errors: `PlanNotPinned` when something is no longer as it was sealed.
 */
export async function assertSealed(
  { context, round }: BareRun,
  seal: StoredSeal,
  directory: PinnedDirectory,
): Promise<void> {
  const checked = await inspectPinned(directory.clone, context.config.paths, round.session, seal.plan_sha256)
  if (typeof checked === 'string') throw planNotPinned(ANOTHER)
  if (seal.workspace_sha256 === null) return
  const workspaceHash = await hashWorkspace(checked, context.config.paths).catch((error: unknown) => {
    throw planNotPinned(CHANGED, error)
  })
  if (workspaceHash !== seal.workspace_sha256) throw planNotPinned(CHANGED)
}

/**
 * Reads the values that have to be masked from the stored copy of the pin, for a worker that goes on with an apply
 * without having its directory. Answers none when they cannot be read, because the engine hides sensitive values in
 * its output itself.
 * Errors: the reason of the run's signal.
 */
export async function readArchivedMasks(run: BareRun, seal: StoredSeal): Promise<string[]> {
  const { context, round, signal, log } = run
  if (seal.archive_key === null || context.config.worker.pin_key === '') return []
  try {
    const archive = await fetchSealedArchive(run, seal)
    const restored = await unpackDirectory(archive, context.config.paths, round.session, {
      plan_sha256: seal.plan_sha256,
    })
    return await readMasks(restored.directory.clone).finally(restored.remove)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('what the reviewed plan marks sensitive could not be read', { error })
    return []
  }
}

/** Fetches the stored copy that the seal names. Errors: `PlanNotPinned`; those of the object store. */
async function fetchSealedArchive({ context, round, signal }: BareRun, seal: StoredSeal): Promise<Uint8Array> {
  const { plan_sha256, round_id, archive_key } = seal
  if (archive_key === null) throw planNotPinned(NOT_PINNED)
  const owner = { session_uuid: round.session.uuid, round_id, plan_sha256 }
  const archive = await fetchArchive(context, owner, archive_key, signal).catch((error: unknown) => {
    if (error instanceof PlatformError && error.status === 404) throw planNotPinned(NOT_PINNED, error)
    throw error
  })
  if (archive === null) throw planNotPinned(NOT_RESTORED)
  return archive
}

async function initialise(run: BareRun, { iacRoot }: PinnedDirectory): Promise<void> {
  const { context, round, log } = run
  await writeOverride(context.config, round.session, iacRoot, log)
  await writeStateKeys(context, round.session, iacRoot)
  const { scope_id, provider } = round.session
  const result = await runJob(run, 'init', { workspace_path: iacRoot, scope_id, engine_provider: provider })
  if (result.exit_code !== 0)
    throw new PlatformError('EngineInitFailed', 502, result.stderr.trim() || 'engine init failed')
}
