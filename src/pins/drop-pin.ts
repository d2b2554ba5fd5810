import type { Sql } from '../data/db/types.ts'
import { assertHeld, heldSession } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'
import { discardPin } from './discard-pin.ts'

/**
 * Takes the session's seal away in the middle of a run; answers the object key of its archive, null when
 * there was none.
 * Errors: `LeaseLost`.
 */
export async function dropPin(sql: Sql, round: ClaimedRound): Promise<string | null> {
  return await sql.begin(async (tx) => {
    assertHeld(await heldSession(tx, round))
    const [pin] = await tx<
      { archive_key: string | null }[]
    >`SELECT archive_key FROM pins WHERE session_id = ${round.session.id}`
    await discardPin(tx, round)
    return pin?.archive_key ?? null
  })
}
