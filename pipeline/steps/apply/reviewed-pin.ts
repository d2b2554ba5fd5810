import { PlatformError } from '../../../src/base/errors.ts'
import { fetchArchive } from '../../../src/sessions/pins/archive.ts'
import { findPin, type StoredSeal } from '../../../src/sessions/pins/seal.ts'
import type { BareRun } from '../../kit/run.ts'
import { writeOverride } from '../../workspace/backend-override.ts'
import { unpackDirectory } from '../../workspace/pins/archive.ts'
import { findPinned, inspectPinned, type PinnedDirectory } from '../../workspace/pins/pinned.ts'
import { readMasks } from '../../workspace/pins/private-files.ts'

/** The reviewed plan of a session: its seal, and the directory when this disk has the sealed one. */
export interface ReviewedPin {
  seal: StoredSeal
  directory: PinnedDirectory | null
}

const NOT_PINNED = 'No reviewed plan is pinned for this session; run a generate round before applying.'
const ANOTHER = 'The pinned plan is not the reviewed one, so it is not applied; run a generate round before applying.'
const NOT_RESTORED = 'The reviewed plan cannot be restored from the object store; run a generate round before applying.'

const planNotPinned = (message: string, cause?: unknown) => new PlatformError('PlanNotPinned', 409, message, { cause })

/**
 * Looks for what may be applied: a seal of a round that completed, and a directory that agrees with it, here
 * or in the object store.
 * Errors: `PlanNotPinned`.
 */
export async function reviewedPin({ context, round }: BareRun): Promise<ReviewedPin> {
  const found = await findPin(context.sql, round.session.id)
  if (!found?.reviewed) throw planNotPinned(NOT_PINNED)
  const { seal } = found
  const directory = await findPinned(context.config.paths, round.session, seal.plan_sha256)
  if (typeof directory !== 'string') return { seal, directory }
  if (seal.archive_key !== null && context.config.worker.pin_key !== '') return { seal, directory: null }
  throw planNotPinned(directory === 'another' ? ANOTHER : NOT_PINNED)
}

/**
 * The directory of a pin, brought back from the object store when this disk does not have the sealed one:
 * unpacked, given the backend override and initialised, which installs the plugins of the lock file.
 * Errors: `PlanNotPinned`, 502 with the engine's words, those of the object store and the iac client.
 */
export async function openDirectory(run: BareRun, { seal, directory }: ReviewedPin): Promise<PinnedDirectory> {
  if (directory !== null) return directory
  const { context, round } = run
  const restored = await unpackDirectory(await archiveOf(run, seal), context.config.paths, round.session, {
    plan_sha256: seal.plan_sha256,
  }).catch((error: unknown) => {
    throw planNotPinned(NOT_RESTORED, error)
  })
  try {
    await initialise(run, restored.directory)
    // The engine wrote beside the plan.
    await assertSealed(run, seal, restored.directory)
    run.log.info('the pinned plan was restored from the object store')
    return await restored.pin()
  } catch (error) {
    await restored.remove()
    throw error
  }
}

/**
 * Looks at the plan file once more.
 * Errors: `PlanNotPinned` when it is no longer the sealed one.
 */
export async function assertSealed(
  { context, round }: BareRun,
  seal: StoredSeal,
  directory: PinnedDirectory,
): Promise<void> {
  const checked = await inspectPinned(directory.clone, context.config.paths, round.session, seal.plan_sha256)
  if (typeof checked === 'string') throw planNotPinned(ANOTHER)
}

/**
 * What has to be masked, from the stored copy, for a worker that takes an apply up without its directory.
 * Best effort: the engine hides what is sensitive itself. Errors: the reason of the run's signal.
 */
export async function archivedMasks(run: BareRun, seal: StoredSeal): Promise<string[]> {
  const { context, round, signal, log } = run
  if (seal.archive_key === null || context.config.worker.pin_key === '') return []
  try {
    const archive = await archiveOf(run, seal)
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

async function archiveOf({ context, round, signal }: BareRun, seal: StoredSeal): Promise<Uint8Array> {
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

async function initialise({ context, round, log, signal }: BareRun, { iac_root }: PinnedDirectory): Promise<void> {
  await writeOverride(context.config, round.session, iac_root, log)
  const { scope_id, provider } = round.session
  const result = await context.iac.run(
    'init',
    { workspace_path: iac_root, scope_id, engine_provider: provider },
    { signal },
  )
  if (result.exit_code !== 0)
    throw new PlatformError('EngineInitFailed', 502, result.stderr.trim() || 'engine init failed')
}
