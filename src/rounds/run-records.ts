import { type AuditEntry, recordAudit } from '../access/audit/record.ts'
import type { StateChoice } from '../base/vocabulary.ts'
import type { Sql } from '../data/db/sql.ts'
import { assertHeld, type ClaimedRound, heldSessionQuery, writeHeld } from './round.ts'

/** Records the id of an engine job under the run's key, so that a later run finds the job. Throws `LeaseLost`. */
export async function recordJob(sql: Sql, round: ClaimedRound, key: string, jobId: string): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE rounds SET jobs = jobs || jsonb_build_object(${key}::text, ${jobId}::text)
    FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
}

/** Records a pushed commit. If the round is cancelled, the next one does not build on it. Throws `LeaseLost`. */
export async function recordPush(sql: Sql, round: ClaimedRound, commit: string): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE rounds SET pushed_commit = ${commit} FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
}

/** Records the commit at which the session begins, unless it is recorded. Throws `LeaseLost`. */
export async function recordFirstCommit(sql: Sql, round: ClaimedRound, commit: string): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE sessions SET first_commit = coalesce(first_commit, ${commit}) FROM session
    WHERE sessions.id = session.id RETURNING sessions.id`
}

/** Returns the commit at which the session begins; null when it is not recorded. */
export async function findFirstCommit(sql: Sql, sessionId: number): Promise<string | null> {
  const [row] = await sql<{ first_commit: string | null }[]>`SELECT first_commit FROM sessions WHERE id = ${sessionId}`
  return row?.first_commit ?? null
}

/** Records under which object key the plan of the code before the session is kept. Throws `LeaseLost`. */
export async function recordBasePlan(sql: Sql, round: ClaimedRound, key: string): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE sessions SET base_plan_key = ${key} FROM session WHERE sessions.id = session.id RETURNING sessions.id`
}

/** Records what the session does from now on with a state that its repository keeps elsewhere. Throws `LeaseLost`. */
export async function recordStateChoice(sql: Sql, round: ClaimedRound, choice: StateChoice | null) {
  await writeHeld(sql, round)`
    UPDATE sessions SET state_choice = ${choice} FROM session WHERE sessions.id = session.id RETURNING sessions.id`
}

/** Adds to the audit that the round's user has adopted a state. Throws `LeaseLost`. */
export async function recordAdoption(sql: Sql, round: ClaimedRound, detail: AuditEntry['detail']): Promise<void> {
  const { user_id, username, uuid } = round.session
  await sql.begin(async (tx) => {
    assertHeld(await tx`${heldSessionQuery(tx, round)}`)
    const actor = { user_id, name: username, address: null }
    await recordAudit(tx, { action: 'state_adopted', actor, session_id: uuid, detail })
  })
}

/**
 * A cloud identifier that was selected for import. `address` is set just before the engine imports it, and empty once
 * it was taken out of the state again. Until `imported`, only the state shows whether the import took place.
 */
export interface RoundImport {
  position: number
  resource_id: string
  address: string | null
  imported: boolean
}

/** Reads the records of earlier runs of the round, in the order of the selection. */
export async function readImports(sql: Sql, round: ClaimedRound): Promise<RoundImport[]> {
  return await sql<RoundImport[]>`
    SELECT position, resource_id, address, imported FROM round_imports WHERE round_id = ${round.id} ORDER BY position`
}

/** Records the identifiers to import, replacing an earlier selection. Throws `LeaseLost`. */
export async function recordSelection(sql: Sql, round: ClaimedRound, ids: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    assertHeld(await tx`${heldSessionQuery(tx, round)}`)
    await tx`DELETE FROM round_imports WHERE round_id = ${round.id}`
    await tx`
      INSERT INTO round_imports (round_id, position, resource_id)
      SELECT ${round.id}, position - 1, id FROM unnest(${ids}::text[]) WITH ORDINALITY AS selected (id, position)`
  })
}

/**
 * Records an import before the engine starts it. From then on the state may hold a resource that only the code of this
 * round describes, so an interrupted round restarts at `commit` and not at the last round's final commit. Throws
 * `LeaseLost`.
 */
export async function recordImport(
  sql: Sql,
  round: ClaimedRound,
  entry: { position: number; address: string; commit: string },
): Promise<void> {
  const rows = await sql`
    WITH session AS (
      UPDATE sessions SET last_commit = ${entry.commit}
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id
    )
    UPDATE round_imports SET address = ${entry.address} FROM session
    WHERE round_id = ${round.id} AND position = ${entry.position} RETURNING position`
  assertHeld(rows)
}

/** Records that the engine has imported an identifier. Throws `LeaseLost`. */
export async function markImported(sql: Sql, round: ClaimedRound, position: number): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE round_imports SET imported = true FROM session
    WHERE round_id = ${round.id} AND position = ${position} RETURNING position`
}

/**
 * Records that an import is no longer one: with its address before the engine takes it out of the state, so that after
 * an interruption the state decides, and with an empty one afterwards. Throws `LeaseLost`.
 */
export async function recordRemoval(
  sql: Sql,
  round: ClaimedRound,
  { position, address }: { position: number; address: string },
): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE round_imports SET imported = false, address = ${address} FROM session
    WHERE round_id = ${round.id} AND position = ${position} RETURNING position`
}
