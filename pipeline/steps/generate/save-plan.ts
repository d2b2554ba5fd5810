import { PlatformError } from '../../../src/base/errors.ts'
import { plannedChanges } from '../../../src/plan/planned-changes.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import { recordSavedPlan } from '../../../src/rounds/transitions.ts'
import { MAX_ARCHIVE_BYTES, storeArchive } from '../../../src/saved-plans/encrypted-archive.ts'
import type { EngineInfo } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import { type BareRun, type Run, withFallback } from '../../kit/run.ts'
import { hashFile, writeMasks } from '../../workspace/files/private-files.ts'
import { packDirectory } from '../../workspace/saved-plans/pack.ts'
import { hashWorkspace } from '../../workspace/saved-plans/workspace-hash.ts'
import { readPriorState } from '../../workspace/saved-plans/zip.ts'
import type { ValidPlan } from '../plan/plan.ts'

/** What an apply is held against, found before the plan may be saved. */
export interface Seal {
  valid: ValidPlan
  /** The masks that lay in the workspace when it was hashed. */
  masks: string
  workspace_sha256: string
}

/**
 * Hashes the workspace of a plan that is still reviewed, which takes long for many files. Nothing else may work in it.
 * Null when that fails, which saving the plan tells. Never rejects.
 */
export const sealPlan = (kit: Kit, valid: ValidPlan): Promise<Seal | null> => takeSeal(kit, valid).catch(() => null)

/** Errors: those of `hashWorkspace`. */
async function takeSeal({ run, secrets }: Kit, valid: ValidPlan): Promise<Seal> {
  const masks = secrets.learned()
  // Before the hash, which covers the file with the masks.
  await writeMasks(run.workspace.clone, masks)
  const workspace_sha256 = await hashWorkspace(run.workspace, run.context.config.paths)
  return { valid, masks: JSON.stringify(masks), workspace_sha256 }
}

/**
 * Saves the plan for a later apply: records it, fenced by the lease, and then keeps the workspace as plan directory. An
 * apply needs both, so that a crash in between leaves nothing that can be applied. Errors: `StalePlan` when the
 * workspace has changed since the plan; `RoundCancelled` before an earlier saved plan is touched; `LeaseLost`.
 * @param seal the hash of the workspace, if it was taken before
 */
export async function savePlan(kit: Kit, valid: ValidPlan, seal: Seal | null = null): Promise<void> {
  const { run } = kit
  const { workspace, context, round, log } = run
  const planSha256 = await hashCurrentPlan(run, valid)
  if (planSha256 === null)
    log.warn(
      'the plan file is not on the disk of the worker: nothing can be applied; do worker and iac service share ' +
        'paths.upload_folder?',
    )
  const plan = planSha256 === null ? null : await collectFacts(kit, valid, planSha256, seal)
  const archiveKey = plan && (await storeCopy(run, plan.plan_sha256))
  const earlierKey = await recordSavedPlan(context.sql, round, plan && { ...plan, archive_key: archiveKey }).catch(
    async (error: unknown) => {
      if (archiveKey !== null) await deleteCopy(run, archiveKey)
      throw error
    },
  )
  await workspace.keep()
  if (earlierKey !== null) await deleteCopy(run, earlierKey)
}

/**
 * Returns the SHA-256 of the plan file; null when it is on another disk.
 * @throws `StalePlan` when the file is not the reviewed one, or the code has changed since it was made
 */
async function hashCurrentPlan({ workspace }: Run, { reference }: ValidPlan): Promise<string | null> {
  const isSameCode = reference.workspace === workspace.iacRoot && reference.revision === (await workspace.revision())
  const hash = isSameCode ? await hashFile(`${workspace.iacRoot}/${reference.plan_file}`) : null
  if (isSameCode && hash === reference.plan_sha256) return hash
  throw new PlatformError('StalePlan', 500, 'The reviewed plan does not belong to the code as it stands.')
}

async function collectFacts(kit: Kit, valid: ValidPlan, planSha256: string, seal: Seal | null) {
  const { run, secrets } = kit
  const { workspace, round } = run
  const { reference, plan } = valid
  const isSealed = seal?.valid === valid && seal.masks === JSON.stringify(secrets.learned())
  const { workspace_sha256 } = isSealed ? seal : await takeSeal(kit, valid)
  const { scope_id, workspace: source } = round.session
  const state = await readPriorState(`${workspace.iacRoot}/${reference.plan_file}`)
  return {
    plan_sha256: planSha256,
    workspace_sha256,
    commit: await workspace.head(),
    targets: reference.targets,
    changes: plannedChanges(plan),
    engine: await askForEngine(run),
    state: state === null ? null : { lineage: state.lineage, serial: state.serial },
    project_id: await deriveProjectId(source.uri, scope_id, source.root_path),
  }
}

/** Returns name and version of the engine; null when the iac service does not respond, which must not cost the plan. */
const askForEngine = (run: Run): Promise<EngineInfo | null> =>
  withFallback(run, 'the engine of the saved plan is not known: the iac service did not answer', null, () =>
    run.context.iac.engine(run.signal),
  )

/** Stores an encrypted copy of the directory and returns its key; null without `worker.pin_key` or on failure. */
async function storeCopy(run: Run, planSha256: string): Promise<string | null> {
  const { context, round, workspace } = run
  const { config } = context
  if (config.worker.pin_key === '') return null
  return await withFallback(run, 'the saved plan is on this disk alone: it could not be stored', null, async () => {
    const archive = await packDirectory(workspace.clone, config.paths, MAX_ARCHIVE_BYTES)
    const owner = { session_uuid: round.session.uuid, round_id: round.id, plan_sha256: planSha256 }
    if (archive !== null) return await storeArchive(context, owner, archive, run.signal)
    run.log.warn('the saved plan is on this disk alone: its directory is too large for the object store', {
      limit_bytes: MAX_ARCHIVE_BYTES,
    })
    return null
  })
}

/** Deletes the stored copy of a saved plan. A failure is logged. */
export async function deleteCopy({ context, log }: BareRun, key: string): Promise<void> {
  await context.storage
    .delete(key)
    .catch((error: unknown) => log.warn('the stored copy of a saved plan could not be deleted', { key, error }))
}
