import type { Mode, Status } from '../base/vocabulary.ts'
import type { Db } from '../data/db/sql.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { readRoundResult } from '../rounds/round-result.ts'

/** The fate of a request: `present` is that of the current round, `applied` is in the infrastructure. */
export type RequestFate = 'present' | 'built' | 'applied' | 'declined'

/** One request of a session, in the user's own words. */
export interface SessionRequest {
  number: number
  text: string
  fate: RequestFate
  /** The assumptions shown to the user, masked, until the request is applied; absent for the current round. */
  assumptions?: string[]
}

type Row = { number: number; mode: Mode; query: string; status: Status | null; result: unknown }

/**
 * Reads the requests of a session up to this round, oldest first: the first request always, each later one that was
 * carried out, and the current one. Applies and previews are not requests. A request that was declined, or only
 * answered, is omitted unless it is the first.
 */
export async function readSessionRequests(
  sql: Db,
  round: Pick<ClaimedRound, 'number' | 'session'>,
): Promise<SessionRequest[]> {
  const rows = await sql<Row[]>`
    SELECT r.number, r.mode, r.query, r.result,
      (SELECT s.status FROM statuses s WHERE s.round_id = r.id ORDER BY s.id DESC LIMIT 1) AS status
    FROM rounds r WHERE r.session_id = ${round.session.id} AND r.number <= ${round.number}
      AND (NOT r.preview OR r.number = ${round.number})
    ORDER BY r.number`
  const applied = Math.max(
    0,
    ...rows.filter(({ mode, status }) => mode === 'apply' && status === 'completed').map((row) => row.number),
  )
  const fateOf = ({ number, status }: Row): RequestFate => {
    if (number === round.number) return 'present'
    if (status === 'uncompleted') return 'declined'
    return number < applied ? 'applied' : 'built'
  }
  return rows
    .filter(({ mode }) => mode !== 'apply')
    .map((row): SessionRequest => {
      const { number, query: text, result } = row
      const fate = fateOf(row)
      const assumptions = fate === 'built' ? (readRoundResult(result)?.assumptions ?? []) : []
      return { number, text, fate, ...(assumptions.length > 0 && { assumptions }) }
    })
    .filter(({ number, fate }) => number === 1 || fate !== 'declined')
}

/**
 * Reads what the last reviewed plan of a session before this round destroys because its request asked for it, as masked
 * addresses. A plan that is not applied yet has these again.
 */
export async function readAskedLosses(sql: Db, round: Pick<ClaimedRound, 'number' | 'session'>): Promise<Set<string>> {
  const [row] = await sql<{ result: unknown }[]>`
    SELECT result FROM rounds WHERE session_id = ${round.session.id} AND number < ${round.number}
      AND result ? 'changes' ORDER BY number DESC LIMIT 1`
  const result = readRoundResult(row?.result)
  const destroyed = result?.changes?.entries.filter(({ action }) => action === 'delete' || action === 'replace') ?? []
  return new Set(destroyed.map(({ address }) => address)).difference(new Set(result?.losses))
}
