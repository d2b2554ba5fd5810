import type { Db, Transaction } from '../data/db/sql.ts'
import { storable } from '../data/db/values.ts'
import type { PlannedChange } from '../plan/actions.ts'
import type { StateVersion } from '../plan/state/state.ts'
import type { EngineInfo } from '../services/iac/contract.ts'

/** The facts that identify the reviewed plan of a session, with which an apply compares everything. */
export interface SavedPlan {
  round_id: number
  /** SHA-256 of the plan file, in lower-case hexadecimal digits. */
  plan_sha256: string
  /** SHA-256 of the other files that an apply may read, in lower-case hexadecimal digits. */
  workspace_sha256: string
  /** Head of the session branch. */
  commit: string
  targets: string[]
  changes: PlannedChange[]
  /** Null when the iac sidecar does not name its engine. */
  engine: EngineInfo | null
  /** Version of the state that the plan was made from; null when the plan file does not contain it. */
  state: StateVersion | null
  project_id: string
  /** Key of the object with the encrypted directory; null when only the worker's disk has the directory. */
  archive_key: string | null
}

export type NewSavedPlan = Omit<SavedPlan, 'round_id'>

export interface PlanRound {
  id: number
  mode: 'generate' | 'drift' | 'import' | 'apply'
  session: { id: number }
}

/**
 * Replaces the current plan of a session in the caller's transaction, which holds the session for the round. A round
 * that saves a second time replaces its own plan.
 * @param plan null when the new plan of the round cannot be saved: the session then has no current plan
 * @returns the object key of the earlier plan's archive, null when there was none
 */
export async function replaceSavedPlan(
  tx: Transaction,
  round: PlanRound,
  plan: NewSavedPlan | null,
): Promise<string | null> {
  const [earlier] = await tx<{ archive_key: string | null }[]>`
    SELECT archive_key FROM saved_plans WHERE session_id = ${round.session.id} AND ended_at IS NULL`
  await endSavedPlan(tx, round)
  if (plan !== null) await insertPlan(tx, round, plan)
  return earlier?.archive_key ?? null
}

async function insertPlan(tx: Transaction, round: PlanRound, plan: NewSavedPlan): Promise<void> {
  const changes = plan.changes.map((change) => ({ ...change, address: storable(change.address) }))
  await tx`DELETE FROM saved_plans WHERE round_id = ${round.id}`
  await tx`
    INSERT INTO saved_plans (round_id, session_id, plan_sha256, workspace_sha256, commit, targets, changes, engine, state,
                             project_id, archive_key)
    VALUES (${round.id}, ${round.session.id}, ${plan.plan_sha256}, ${plan.workspace_sha256}, ${plan.commit},
            ${plan.targets}::text[], ${JSON.stringify(changes)}::jsonb, ${toJson(plan.engine)}::jsonb,
            ${toJson(plan.state)}::jsonb, ${plan.project_id}, ${plan.archive_key})`
}

const toJson = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

/**
 * Finds the current plan of a session; null when there is none. `reviewed` is true once the round that saved it has
 * completed: the plan of an interrupted round was never reviewed. `result` is the stored result of that round.
 */
export async function findSavedPlan(
  sql: Db,
  sessionId: number,
): Promise<{ plan: SavedPlan; reviewed: boolean; result: unknown } | null> {
  const [row] = await sql<(SavedPlan & { reviewed: boolean; result: unknown })[]>`
    SELECT round_id, plan_sha256, workspace_sha256, commit, targets, changes, engine, state, project_id, archive_key,
           EXISTS (SELECT 1 FROM statuses s WHERE s.round_id = p.round_id AND s.status = 'completed') AS reviewed,
           (SELECT r.result FROM rounds r WHERE r.id = p.round_id) AS result
    FROM saved_plans p WHERE session_id = ${sessionId} AND ended_at IS NULL`
  if (!row) return null
  const { reviewed, result, ...plan } = row
  return { plan, reviewed, result }
}

/** A plan that a session has applied with success. */
export interface AppliedPlan {
  commit: string
  targets: string[]
  changes: PlannedChange[]
}

/** Lists what a session has applied with success, the last first, up to the last plan of the whole root. */
export async function listAppliedPlans(sql: Db, sessionId: number): Promise<AppliedPlan[]> {
  const rows = await sql<AppliedPlan[]>`
    SELECT commit, targets, changes FROM saved_plans p WHERE session_id = ${sessionId} AND end_reason = 'used'
      AND EXISTS (SELECT 1 FROM statuses s WHERE s.round_id = p.ended_by AND s.status = 'completed')
    ORDER BY ended_by DESC`
  const whole = rows.findIndex(({ targets }) => targets.length === 0)
  return whole < 0 ? rows : rows.slice(0, whole + 1)
}

/**
 * Ends the current plan of a session in the caller's transaction, which has locked the session, and records the round
 * and the reason (`PlanEnd`). Clears everything that only an apply needs. The changes of a used plan stay, since they
 * tell which objects its code describes.
 */
export async function endSavedPlan(tx: Transaction, round: PlanRound): Promise<void> {
  const reason =
    round.mode === 'apply'
      ? tx`coalesce((
          SELECT CASE WHEN a.intended_at IS NOT NULL THEN 'used' ELSE a.result ->> 'cause' END
          FROM applies a WHERE a.round_id = ${round.id}), 'discarded')`
      : tx`'superseded'`
  await tx`
    UPDATE saved_plans SET ended_at = clock_timestamp(), ended_by = ${round.id}, end_reason = ${reason},
      archive_key = NULL,
      changes = CASE ${reason} WHEN 'used' THEN changes ELSE '[]' END
    WHERE session_id = ${round.session.id} AND ended_at IS NULL`
}
