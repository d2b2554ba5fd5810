import { PlatformError } from '../../../src/base/errors.ts'
import { delay } from '../../../src/base/http.ts'
import { isStateLocked, readManagedState } from '../../../src/plan/state/managed-state.ts'
import { compareStates, describeMoves, type EngineState, hasMoved } from '../../../src/plan/state/state.ts'
import type { ApplyResult } from '../../../src/rounds/applies.ts'
import { claimProject, parkRound } from '../../../src/rounds/transitions.ts'
import { fetchArchive } from '../../../src/saved-plans/encrypted-archive.ts'
import { findSavedPlan, type SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import { describeMovedState, describeOtherEngine } from '../../../src/saved-plans/verify.ts'
import type { BareKit } from '../../kit/kit.ts'
import { type BareRun, withFallback } from '../../kit/run.ts'
import { runJob } from '../../kit/run-job.ts'
import { describeState, writeOverride, writeStateKeys } from '../../workspace/backend-override.ts'
import { readMasks } from '../../workspace/files/private-files.ts'
import { unpackDirectory } from '../../workspace/saved-plans/pack.ts'
import {
  findPlanDirectory,
  inspectPlanDirectory,
  type PlanDirectory,
  removePlanDirectory,
} from '../../workspace/saved-plans/plan-directory.ts'
import { hashWorkspace } from '../../workspace/saved-plans/workspace-hash.ts'
import { readPriorState } from '../../workspace/saved-plans/zip.ts'
import { deleteCopy } from '../generate/save-plan.ts'

/** Maximum wait for another round that applies to the same project, unless engine jobs have a shorter limit. */
const PROJECT_LIMIT_S = 600

/**
 * Makes the round the only one that applies to its project. Parks it while another round does so, so that it occupies
 * no worker. Returns null when the project is held, `parked`, or a refusal after too long a wait. Errors: `LeaseLost`.
 * @param waitedSeconds time waited so far; null at the first try
 */
export async function holdProject(
  { run, status }: BareKit,
  projectId: string,
  waitedSeconds: number | null,
): Promise<Refusal | 'parked' | null> {
  const { context, round } = run
  const limitS = Math.min(PROJECT_LIMIT_S, context.config.services.iac.job_timeout)
  for (;;) {
    const holder = await claimProject(context.sql, round, projectId)
    if (holder === null) return null
    if (waitedSeconds !== null && waitedSeconds >= limitS) {
      const wait = `${limitS} s that this round waited`
      const reason = `session ${holder} applied to the same infrastructure for all of the ${wait}.`
      return { kind: 'refused', reason, advice: `Run a generate round when session ${holder} is done, and apply then.` }
    }
    await status.show('apply', `Waiting for session ${holder}, which applies to the same infrastructure.`)
    if (await parkRound(context, round, { project_id: projectId, limitS })) return 'parked'
  }
}

/**
 * Deletes directory and stored copy of a saved plan. Failures are logged.
 * @param options.inUse true when an engine may still work in the directory
 */
export async function discardSavedPlan(run: BareRun, plan: SavedPlan | null, options: { inUse: boolean }) {
  const { context, round, log } = run
  const remove = removePlanDirectory(context.config.paths, round.session.uuid, options).catch((error: unknown) =>
    log.warn('the directory of a saved plan could not be removed', { error }),
  )
  await Promise.all([remove, plan?.archive_key != null && deleteCopy(run, plan.archive_key)])
}

const LOCK_LIMIT_MS = 60_000
const LOCK_PAUSE_MS = 500

/**
 * Waits up to 60 s while another run, for example a plan of another session, holds the state lock, because the engine
 * would refuse at once and cost a new review. Otherwise leaves the refusal to the engine. Errors: the reason of the
 * run's signal.
 */
export async function waitForStateLock({ run, status }: BareKit, projectId: string): Promise<void> {
  const end = performance.now() + LOCK_LIMIT_MS
  let isAnnounced = false
  while (performance.now() < end && (await isLocked(run, projectId))) {
    if (!isAnnounced) await status.show('apply', 'Waiting for another run that works on the same state.')
    isAnnounced = true
    await delay(LOCK_PAUSE_MS, run.signal)
  }
}

/** True if another run holds the lock; false also when the lock cannot be read. */
const isLocked = (run: BareRun, projectId: string): Promise<boolean> =>
  withFallback(
    run,
    'the lock of the state could not be looked for',
    false,
    async () => (await isStateLocked(run.context, projectId, run.signal)) === true,
  )

type Refusal = Extract<ApplyResult, { kind: 'refused' }>

const PLAN_AGAIN = 'Run a generate round, which plans anew, review its plan and apply then.'

/** Refuses an engine or version that did not make the plan; null if equal or unknown. Errors: the iac client's. */
export async function refuseOtherEngine({ context, signal }: BareRun, { engine }: SavedPlan): Promise<Refusal | null> {
  if (engine === null) return null
  const reason = describeOtherEngine(engine, await context.iac.engine(signal))
  return reason === null ? null : { kind: 'refused', cause: 'engine_changed', reason, advice: PLAN_AGAIN }
}

/** Refuses the apply when the state has changed; null otherwise, or when unreadable: the engine checks it too. */
export async function refuseMovedState(
  run: BareRun,
  plan: SavedPlan,
  directory: PlanDirectory,
): Promise<Refusal | null> {
  if (plan.state === null) return null
  const now = await readCurrentState(run, plan.project_id)
  const moved = now === null ? null : describeMovedState(plan.state, now)
  if (now === null || moved === null) return null
  const reason = `${moved} ${await describeMovesSince(run, directory, now)}`
  return { kind: 'refused', cause: 'state_moved', reason, advice: PLAN_AGAIN }
}

/** Describes, after a blank, the state after an apply of unknown end; empty when it cannot be read. */
export async function describeStateTrace(run: BareRun, plan: SavedPlan, directory: PlanDirectory): Promise<string> {
  const now = plan.state === null ? null : await readCurrentState(run, plan.project_id)
  if (now === null || plan.state === null) return ''
  if (!hasMoved(plan.state, now)) return ' The state is the one from before the apply.'
  return ` The state was written after the plan was made. ${await describeMovesSince(run, directory, now)}`
}

/** Returns the current managed state; null when it cannot be read, since the engine compares again. */
const readCurrentState = (run: BareRun, projectId: string): Promise<EngineState | null> =>
  withFallback(run, 'the state could not be read before the apply; the engine compares it', null, () =>
    readManagedState(run.context, projectId, run.signal),
  )

/** Describes the changes since the state in the plan file; empty when the plan file holds none. */
async function describeMovesSince({ context }: BareRun, { iacRoot }: PlanDirectory, now: EngineState): Promise<string> {
  const before = await readPriorState(`${iacRoot}/${context.config.paths.session_plan_filename}`)
  return before === null ? '' : describeMoves(compareStates(before, now))
}

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
  const state = await describeState(context.config, round.session)
  const job = { workspace_path: iacRoot, scope_id, engine_provider: provider, ...state }
  const result = await runJob(run, 'init', job)
  if (result.exit_code !== 0)
    throw new PlatformError('EngineInitFailed', 502, result.stderr.trim() || 'engine init failed')
}
