import { LeaseLost } from '../base/errors.ts'
import type { Mode, Turn } from '../base/vocabulary.ts'
import type { Db } from '../data/db/sql.ts'
import type { SessionFacts } from './session-facts.ts'

export interface RoundRequest {
  mode: Mode
  query: string
  is_partial: boolean
  /** True for a drift or import round that changes neither code nor state. Default false. */
  preview?: boolean
  /** Resources to import, chosen from an import preview of the session. Null or absent: the round selects them. */
  resource_ids?: readonly string[] | null
}

/** The round of a write, with the fence of the writing worker. */
export interface HeldRound {
  id: number
  number: number
  mode: Mode
  preview?: boolean
  fence: number
  session: Pick<SessionFacts, 'id' | 'uuid' | 'user_id' | 'workspace'>
}

/**
 * A round that this worker has claimed. Each claim raises the session's `fence` by one and every write of a run checks
 * it, so that a worker that has lost the round cannot write any more.
 */
export interface ClaimedRound extends RoundRequest {
  id: number
  number: number
  fence: number
  /** 1 for the first run of the round, more after an interruption. */
  attempt: number
  session: SessionFacts
  history: Turn[]
  /** Commit of the session branch when the last finished round ended; null before the first. */
  base_commit: string | null
  /** Unreviewed heads that cancelled rounds of the session left on its branch. */
  abandoned_commits?: readonly string[]
  /** Engine jobs submitted by an earlier run of this round, by the run's key for them. */
  jobs: Record<string, string>
}

/**
 * Returns the `FROM` query of a write that only the current holder of the round may do. It yields no row when another
 * worker has claimed the round since, because a claim raises the fence. The row lock makes a claim wait for the write,
 * so that the new holder sees it.
 */
export const heldSessionQuery = (sql: Db, round: HeldRound) => sql`
  SELECT id, uuid FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE`

/** Throws `LeaseLost` when a write of a run has affected no row. */
export function assertHeld(rows: { readonly length: number }): void {
  if (rows.length === 0) throw new LeaseLost()
}
