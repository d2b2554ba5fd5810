import { LeaseLost } from '../base/errors.ts'
import type { Cloud, LockGate, Mode, Operation, StateChoice, Status, Turn } from '../base/vocabulary.ts'
import type { Db, Query, Row, Value } from '../data/db/sql.ts'

/** The facts of a session that a run needs. Only `is_blocked` may change during the run. */
export interface SessionFacts {
  id: number
  uuid: string
  user_id: number
  /** The owner's e-mail; `user-<id>` for an owner without one. */
  username: string
  operation: Operation
  provider: Cloud
  scope_id: string
  workspace: { uri: string; branch: string; root_path: string | null }
  first_query: string
  is_blocked: boolean
  in_flight: boolean
  current_status: Status
  /** What an earlier round did with a state elsewhere; null when it did nothing that lasts. */
  state_choice?: StateChoice | null
}

/** One reason of the lock of a session. */
export interface LockReason {
  gate: LockGate
  /** What was found, masked; what a person said. Null where nothing was said. */
  what: string | null
  /** E-mail or name of who locked, or `platform`. */
  by: string
  /** Number of the round whose review it was; null for a person. */
  round: number | null
}

type FactsRow = Omit<SessionFacts, 'workspace'> & { uri: string; branch: string; root_path: string | null }

/** Returns the columns that a session's summary, detail and facts share. */
export const factColumns = (sql: Db): Query => sql`
  s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, h.first_query,
  w.uri, w.branch, w.root_path, s.last_status AS current_status, s.in_flight, s.is_blocked`

/** Returns the joins of these columns, each with one row for the session `s`. */
export const factJoins = (sql: Db): Query => sql`
  JOIN users u ON u.id = s.user_id
  JOIN workspaces w ON w.session_id = s.id
  JOIN engine_providers p ON p.session_id = s.id
  JOIN histories h ON h.session_id = s.id`

/** Reads the facts of the session `s` that the condition selects; null when there is none. */
export const readFacts = async (sql: Db, condition: Query): Promise<SessionFacts | null> =>
  (await readAllFacts(sql, condition))[0] ?? null

/** Reads the facts of all sessions `s` that the condition selects. */
export async function readAllFacts(sql: Db, condition: Query): Promise<SessionFacts[]> {
  const rows = await sql<FactsRow[]>`
    SELECT s.id, s.user_id, p.scope_id, s.state_choice, ${factColumns(sql)} FROM sessions s ${factJoins(sql)} WHERE ${condition}`
  return rows.map(({ uri, branch, root_path, ...facts }) => ({ ...facts, workspace: { uri, branch, root_path } }))
}

/** Returns the cache key of a finished session's detail. */
export const sessionAggregateKey = (uuid: string): string => `platform:session:${uuid.toLowerCase()}:aggregate`

export interface RoundRequest {
  mode: Mode
  query: string
  is_partial: boolean
  /** True for a drift or import round that changes neither code nor state. Default false. */
  preview?: boolean
  /** Resources to import, chosen from an import preview of the session. Null or absent: the round selects them. */
  resource_ids?: readonly string[] | null
  /** What the request chooses for a state elsewhere. Null or absent: as before, else as configured. */
  state?: StateChoice | null
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

/** Identifies the lease of a round. */
export type HeldLease = Pick<HeldRound, 'id' | 'fence'> & { session: { id: number } }

/**
 * A round that this worker has claimed. Each claim raises the session's `fence` by one and every write of a run checks
 * it, so that a worker that has lost the round cannot write any more.
 */
export interface ClaimedRound extends RoundRequest, Pick<HeldRound, 'id' | 'number' | 'fence'> {
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

/**
 * Makes the tag of a write of a run, which takes `FROM session` and returns the rows that it affects. The write throws
 * `LeaseLost`.
 */
export const writeHeld =
  (sql: Db, round: HeldRound) =>
  async (strings: TemplateStringsArray, ...values: Value[]): Promise<Row[]> => {
    const rows = await sql`WITH session AS (${heldSessionQuery(sql, round)}) ${sql(strings, ...values)}`
    assertHeld(rows)
    return rows
  }
