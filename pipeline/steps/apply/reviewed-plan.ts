import { PlatformError } from '../../../src/base/errors.ts'
import { fetchArchive } from '../../../src/saved-plans/encrypted-archive.ts'
import { findSavedPlan, type SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import { runJob } from '../../kit/cancellation.ts'
import { type BareRun, withFallback } from '../../kit/run.ts'
import { writeOverride, writeStateKeys } from '../../workspace/backend-override.ts'
import { readMasks } from '../../workspace/files/private-files.ts'
import { unpackDirectory } from '../../workspace/saved-plans/pack.ts'
import {
  findPlanDirectory,
  inspectPlanDirectory,
  type PlanDirectory,
} from '../../workspace/saved-plans/plan-directory.ts'
import { hashWorkspace } from '../../workspace/saved-plans/workspace-hash.ts'

interface ReviewedPlan {
  plan: SavedPlan
  /** The directory of the plan; null when it is not on this disk and has to be restored. */
  directory: PlanDirectory | null
}

const NOT_SAVED = 'No reviewed plan is pinned for this session; run a generate round before applying.'
const ANOTHER = 'The pinned plan is not the reviewed one, so it is not applied; run a generate round before applying.'
const CHANGED =
  'The files beside the pinned plan are not the reviewed ones, so it is not applied; run a generate round before ' +
  'applying.'
const NOT_RESTORED = 'The reviewed plan cannot be restored from the object store; run a generate round before applying.'

const planNotSaved = (message: string, cause?: unknown) => new PlatformError('PlanNotSaved', 409, message, { cause })

/** Finds the saved plan of a completed round with its matching directory, local or stored. Errors: `PlanNotSaved`. */
export async function findReviewedPlan({ context, round }: BareRun): Promise<ReviewedPlan> {
  const saved = await findSavedPlan(context.sql, round.session.id)
  if (!saved?.reviewed) throw planNotSaved(NOT_SAVED)
  const { plan } = saved
  const directory = await findPlanDirectory(context.config.paths, round.session, plan.plan_sha256)
  if (typeof directory !== 'string') return { plan, directory }
  if (plan.archive_key !== null && context.config.worker.pin_key !== '') return { plan, directory: null }
  throw planNotSaved(directory === 'another' ? ANOTHER : NOT_SAVED)
}

/**
 * Returns the directory of a saved plan. If it is not on this disk, it is unpacked from the object store, given the
 * backend override, and initialised with the plugins of its lock file. Errors: `PlanNotSaved`; 502 with the engine's
 * output; those of the object store and of the iac client.
 */
export async function openPlanDirectory(run: BareRun, { plan, directory }: ReviewedPlan): Promise<PlanDirectory> {
  if (directory !== null) return directory
  const restored = await unpackCopy(run, plan)
  try {
    await assertUnchanged(run, plan, restored.directory)
    await initialise(run, restored.directory)
    // The engine has written into the directory, so it is compared with the saved plan again.
    await assertUnchanged(run, plan, restored.directory)
    run.log.info('the saved plan was restored from the object store')
    return await restored.keep()
  } catch (error) {
    await restored.remove()
    throw error
  }
}

/** Compares plan file and files beside it with the saved plan. Errors: `PlanNotSaved` when they differ. */
export async function assertUnchanged({ context, round }: BareRun, plan: SavedPlan, directory: PlanDirectory) {
  const checked = await inspectPlanDirectory(directory.clone, context.config.paths, round.session, plan.plan_sha256)
  if (typeof checked === 'string') throw planNotSaved(ANOTHER)
  const workspaceHash = await hashWorkspace(checked, context.config.paths).catch((error: unknown) => {
    throw planNotSaved(CHANGED, error)
  })
  if (workspaceHash !== plan.workspace_sha256) throw planNotSaved(CHANGED)
}

/**
 * Reads the values to mask from the stored copy; none on failure, because the engine hides them itself.
 * @throws the reason of the run's signal; `LeaseLost`
 */
export async function readArchivedMasks(run: BareRun, plan: SavedPlan): Promise<string[]> {
  if (plan.archive_key === null || run.context.config.worker.pin_key === '') return []
  return await withFallback(run, 'what the reviewed plan marks sensitive could not be read', [], async () => {
    const restored = await unpackCopy(run, plan)
    return await readMasks(restored.directory.clone).finally(restored.remove)
  })
}

/** Unpacks the stored copy that the saved plan names. Errors: `PlanNotSaved`; those of the object store. */
async function unpackCopy({ context, round, signal }: BareRun, plan: SavedPlan) {
  const { plan_sha256, round_id, archive_key } = plan
  if (archive_key === null) throw planNotSaved(NOT_SAVED)
  const owner = { session_uuid: round.session.uuid, round_id, plan_sha256 }
  const archive = await fetchArchive(context, owner, archive_key, signal).catch((error: unknown) => {
    if (error instanceof PlatformError && error.status === 404) throw planNotSaved(NOT_SAVED, error)
    throw error
  })
  if (archive === null) throw planNotSaved(NOT_RESTORED)
  const { paths } = context.config
  return await unpackDirectory(archive, paths, round.session, { plan_sha256 }).catch((error: unknown) => {
    throw planNotSaved(NOT_RESTORED, error)
  })
}

async function initialise(run: BareRun, { iacRoot }: PlanDirectory): Promise<void> {
  const { context, round, log } = run
  await writeOverride(context.config, round.session, iacRoot, log)
  await writeStateKeys(context, round.session, iacRoot)
  const { scope_id, provider } = round.session
  const result = await runJob(run, 'init', { workspace_path: iacRoot, scope_id, engine_provider: provider })
  if (result.exit_code !== 0)
    throw new PlatformError('EngineInitFailed', 502, result.stderr.trim() || 'engine init failed')
}
