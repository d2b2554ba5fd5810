import { readManagedState } from '../../../src/plan/state/managed-state.ts'
import { compareStates, describeMoves, type EngineState, hasMoved, parseState } from '../../../src/plan/state/state.ts'
import type { ApplyResult } from '../../../src/sessions/applies.ts'
import type { StoredSeal } from '../../../src/sessions/pins/seal.ts'
import type { BareRun } from '../../kit/run.ts'
import type { PinnedDirectory } from '../../workspace/pins/pinned.ts'
import { readZipEntry } from '../../workspace/pins/zip.ts'
import { MAX_STATE_BYTES } from '../generate/pin-plan.ts'

type Refusal = Extract<ApplyResult, { kind: 'refused' }>

const PLAN_AGAIN = 'Run a generate round, which plans anew, review its plan and apply then.'

/**
 * A plan is applied by the engine that made it: another one, or another version, may read it differently.
 * Errors: those of the iac client.
 */
export async function otherEngine({ context, signal }: BareRun, { engine }: StoredSeal): Promise<Refusal | null> {
  if (engine === null) return null
  const now = await context.iac.engine(signal)
  if (now?.name === engine.name && now.version === engine.version) return null
  const found = now === null ? 'an engine that does not tell its version' : `${now.name} ${now.version}`
  const reason = `the plan was made by ${engine.name} ${engine.version}, and the iac service runs ${found} now.`
  return { kind: 'refused', reason, advice: PLAN_AGAIN }
}

/** A plan is applied to the state it was made from. What can be read of a managed state is compared before the engine does. */
export async function movedState(run: BareRun, seal: StoredSeal, directory: PinnedDirectory): Promise<Refusal | null> {
  if (seal.state === null) return null
  const now = await stateNow(run, seal.project_id)
  if (now === null || !hasMoved(seal.state, now)) return null
  const moves = await movesSince(run, directory, now)
  const reason = `the state moved after the plan was made (serial ${seal.state.serial} then, ${now.serial} now). ${moves}`
  return { kind: 'refused', reason, advice: PLAN_AGAIN }
}

/** What the state says about an apply whose end nobody saw; empty when it says nothing. */
export async function traceInState(run: BareRun, seal: StoredSeal, directory: PinnedDirectory): Promise<string> {
  const now = seal.state === null ? null : await stateNow(run, seal.project_id)
  if (now === null || seal.state === null) return ''
  if (!hasMoved(seal.state, now)) return ' The state is the one from before the apply.'
  return ` The state was written after the plan was made. ${await movesSince(run, directory, now)}`
}

/** The engine compares again: a store that does not answer is no reason to refuse. */
async function stateNow({ context, signal, log }: BareRun, project_id: string): Promise<EngineState | null> {
  try {
    return await readManagedState(context, project_id, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the state could not be read before the apply; the engine compares it', { error })
    return null
  }
}

async function movesSince({ context }: BareRun, { iac_root }: PinnedDirectory, now: EngineState): Promise<string> {
  const prior = await readZipEntry(
    `${iac_root}/${context.config.paths.session_plan_filename}`,
    'tfstate',
    MAX_STATE_BYTES,
  )
  const before = prior === null ? null : parseState(prior)
  return before === null ? '' : describeMoves(compareStates(before, now))
}
