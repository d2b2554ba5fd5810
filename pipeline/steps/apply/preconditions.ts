import { delay } from '../../../src/base/http.ts'
import { isStateLocked, readManagedState } from '../../../src/plan/state/managed-state.ts'
import { compareStates, describeMoves, type EngineState, hasMoved, parseState } from '../../../src/plan/state/state.ts'
import type { ApplyResult } from '../../../src/rounds/applies.ts'
import { claimProject, parkRound } from '../../../src/rounds/transitions.ts'
import type { SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import { describeMovedState, describeOtherEngine } from '../../../src/saved-plans/verify.ts'
import type { BareKit } from '../../kit/kit.ts'
import { type BareRun, withFallback } from '../../kit/run.ts'
import { type PlanDirectory, removePlanDirectory } from '../../workspace/saved-plans/plan-directory.ts'
import { readZipEntry } from '../../workspace/saved-plans/zip.ts'
import { deleteCopy, MAX_STATE_BYTES } from '../generate/save-plan.ts'

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
  const prior = await readZipEntry(
    `${iacRoot}/${context.config.paths.session_plan_filename}`,
    'tfstate',
    MAX_STATE_BYTES,
  )
  const before = prior === null ? null : parseState(prior)
  return before === null ? '' : describeMoves(compareStates(before, now))
}
