import { type Plan, parsePlanInSlices } from '../../src/plan/plan.ts'
import { readsTheSame } from '../../src/plan/readings.ts'
import { deriveProjectId, readManagedState } from '../../src/plan/state/managed-state.ts'
import type { StateVersion } from '../../src/plan/state/state.ts'
import { recordBasePlan } from '../../src/rounds/run-records.ts'
import { basePlanKey, encryptBasePlan, fetchBasePlan } from '../../src/saved-plans/base-plan.ts'
import { hashFile } from '../workspace/files/private-files.ts'
import { type Run, withFallback } from './run.ts'

/** A plan of the code before the session, and what it was made from. */
export interface MadePlan {
  plan: Plan
  commit: string
  /** Null when the plan file does not contain it. */
  state: StateVersion | null
  lock_sha256: string | null
  /** True if an earlier round made it. */
  isKept: boolean
}

/** Hashes the lock file of an engine root: equal ones stand for the same providers. */
export const hashLockFile = (iacRoot: string) => hashFile(`${iacRoot}/.terraform.lock.hcl`)

/**
 * Keeps a plan for later rounds, encrypted in the object store. A failure is logged.
 * @param made.text the engine's JSON; null for a plan that is kept already
 */
export async function keepBasePlan(
  run: Run,
  { state, text, ...made }: MadePlan & { text: string | null },
): Promise<void> {
  const { context, round, signal } = run
  if (state === null || text === null) return
  await withFallback(run, 'the plan of the code before the session was not kept', undefined, async () => {
    const { commit, lock_sha256 } = made
    const { lineage, serial } = state
    const kept = { commit, state: { lineage, serial }, lock_sha256, text }
    const object = await encryptBasePlan(context, round.session.uuid, kept)
    if (object === null) return
    const key = basePlanKey(round.session.uuid)
    // Before the upload, so that the object of a session that fails is found.
    await recordBasePlan(context.sql, round, key)
    await context.storage.put(key, object, { content_type: 'application/octet-stream', signal })
  }).catch(() => {})
}

/**
 * Finds the plan that an earlier round of the session kept of a commit; null when there is none, and when its providers
 * or its state are already known to be others.
 */
export const findKeptPlan = (run: Run, commit: string): Promise<MadePlan | null> =>
  withFallback(run, 'the kept plan of the code before the session could not be read', null, async () => {
    const { context, round, workspace, signal } = run
    const kept = round.number === 1 ? null : await fetchBasePlan(context, round.session, signal)
    if (kept === null || kept.commit !== commit) return null
    if (kept.lock_sha256 !== (await hashLockFile(workspace.iacRoot))) return null
    const state = await readSessionState(run)
    if (state !== null && !isSameState(kept.state, state)) return null
    const { text, ...facts } = kept
    return { ...facts, plan: await parsePlanInSlices(text), isKept: true }
  })

/** Reads the managed state of the session; null when it is not managed. Errors: those of the state store. */
export async function readSessionState({ context, round, signal }: Run): Promise<StateVersion | null> {
  const { workspace, scope_id } = round.session
  const id = await deriveProjectId(workspace.uri, scope_id, workspace.root_path)
  return await readManagedState(context, id, signal)
}

/**
 * Reports whether a plan of the code before the session still tells what one that is made now would, to compare with a
 * plan of the session over `state`. One of this round only needs the same state.
 */
export async function isStill(
  { workspace }: Run,
  made: MadePlan,
  session: { plan: Plan; state: StateVersion | null },
): Promise<boolean> {
  if (!made.state || !session.state) return !made.isKept
  if (!isSameState(made.state, session.state)) return false
  if (!made.isKept) return true
  return made.lock_sha256 === (await hashLockFile(workspace.iacRoot)) && readsTheSame(made.plan, session.plan)
}

/** True before the first apply. A state whose objects cannot be read, since it is encrypted, is not empty. */
export const isEmptyState = (state: StateVersion | null): boolean => state?.lineage === ''

const isSameState = (a: StateVersion, b: StateVersion): boolean => a.lineage === b.lineage && a.serial === b.serial
