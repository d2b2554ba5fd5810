import type { Sql } from '../data/db/types.ts'
import { assertHeld, heldSession } from './status.ts'
import type { ClaimedRound } from './types.ts'

/** A selected identifier; `address` is set from the moment its import was handed to the engine. */
export interface RoundImport {
  position: number
  resource_id: string
  address: string | null
  imported: boolean
}

/** What earlier attempts of the round recorded, in the order of the selection. */
export async function readImports(sql: Sql, round: ClaimedRound): Promise<RoundImport[]> {
  return await sql<RoundImport[]>`
    SELECT position, resource_id, address, imported FROM round_imports WHERE round_id = ${round.id} ORDER BY position`
}

/** Records what the round is going to import, in place of an earlier selection. Errors: `LeaseLost`. */
export async function recordSelection(sql: Sql, round: ClaimedRound, ids: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    assertHeld(await tx`${heldSession(tx, round)}`)
    await tx`DELETE FROM round_imports WHERE round_id = ${round.id}`
    await tx`
      INSERT INTO round_imports (round_id, position, resource_id)
      SELECT ${round.id}, position - 1, id FROM unnest(${ids}::text[]) WITH ORDINALITY AS selected (id, position)`
  })
}

/**
 * Records an import before the engine gets it. The state relies on the code from then on: a round that is
 * taken up again begins with `commit` instead of the last round's end.
 * Errors: `LeaseLost`.
 */
export async function recordImport(
  sql: Sql,
  round: ClaimedRound,
  given: { position: number; address: string; commit: string },
): Promise<void> {
  const rows = await sql`
    WITH session AS (
      UPDATE sessions SET last_commit = ${given.commit}
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id
    )
    UPDATE round_imports SET address = ${given.address} FROM session
    WHERE round_id = ${round.id} AND position = ${given.position} RETURNING position`
  assertHeld(rows)
}

/** Errors: `LeaseLost`. */
export async function recordImported(sql: Sql, round: ClaimedRound, position: number): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSession(sql, round)})
    UPDATE round_imports SET imported = true FROM session
    WHERE round_id = ${round.id} AND position = ${position} RETURNING position`
  assertHeld(rows)
}
