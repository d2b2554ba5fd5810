import { readManagedState } from '../../../src/plan/state/managed-state.ts'
import { compareStates, describeMoves, type EngineState, hasMoved, parseState } from '../../../src/plan/state/state.ts'
import type { ApplyResult } from '../../../src/rounds/applies.ts'
import type { SavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import { describeMovedState, describeOtherEngine } from '../../../src/saved-plans/verify.ts'
import type { BareRun } from '../../kit/run.ts'
import type { PlanDirectory } from '../../workspace/saved-plans/plan-directory.ts'
import { readZipEntry } from '../../workspace/saved-plans/zip.ts'
import { MAX_STATE_BYTES } from '../generate/save-plan.ts'

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
async function readCurrentState({ context, signal, log }: BareRun, projectId: string): Promise<EngineState | null> {
  try {
    return await readManagedState(context, projectId, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the state could not be read before the apply; the engine compares it', { error })
    return null
  }
}

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
