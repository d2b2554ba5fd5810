import type { Transaction } from '../data/db/types.ts'
import type { HeldRound } from './round.ts'

/**
 * Deletes the session's seal inside the caller's transaction, which has locked the session, and records that this round
 * took it away.
 */
export async function deletePinRow(tx: Transaction, round: Pick<HeldRound, 'id' | 'mode' | 'session'>): Promise<void> {
  await tx`DELETE FROM pins WHERE session_id = ${round.session.id}`
  await recordSealEnd(tx, round)
}

/** Records that a round takes the session's seal away, and why; the reasons are those of `ShownSeal`. Nothing changes when there is none. */
async function recordSealEnd(tx: Transaction, round: Pick<HeldRound, 'id' | 'mode' | 'session'>): Promise<void> {
  const reason =
    round.mode === 'apply'
      ? tx`coalesce((
          SELECT CASE WHEN a.intended_at IS NOT NULL THEN 'used' ELSE a.result ->> 'cause' END
          FROM applies a WHERE a.round_id = ${round.id}), 'discarded')`
      : tx`'superseded'`
  await tx`
    UPDATE sealed_plans SET ended_at = clock_timestamp(), ended_by = ${round.id}, end_reason = ${reason}
    WHERE session_id = ${round.session.id} AND ended_at IS NULL`
}
