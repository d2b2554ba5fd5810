import { isUuid } from '../../base/text.ts'
import type { Sql, Transaction } from '../../data/db/sql.ts'
import { readRoundResult } from '../../rounds/round-result.ts'
import type { EvidenceRows, RoundRow } from './evidence.ts'

type Head = EvidenceRows['session'] & { id: number }

/** Stored plans of a round that are read; the reviewed one precedes the drift read after it. */
const LATEST_PLANS = 4

/** Reads all evidence rows from one database snapshot, without previews; null for an unknown session. */
export async function readEvidenceRows(sql: Sql, uuid: string): Promise<EvidenceRows | null> {
  if (!isUuid(uuid)) return null
  return await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const head = await readHead(tx, uuid)
    if (!head) return null
    const { id, ...session } = head
    const [rounds, reports, [check = null], plans] = await Promise.all([
      readRounds(tx, id),
      readReports(tx, id),
      readLatestCheck(tx, id),
      readPlans(tx, id),
    ])
    return { session, rounds, reports, check, plans }
  })
}

async function readHead(tx: Transaction, uuid: string): Promise<Head | null> {
  const [head] = await tx<Head[]>`
    SELECT s.id, s.uuid, s.operation, h.first_query, h.payload AS history, w.uri, w.branch,
           s.is_blocked, s.in_flight, s.last_commit
    FROM sessions s
    JOIN workspaces w ON w.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    WHERE s.uuid = ${uuid}`
  return head ?? null
}

async function readRounds(tx: Transaction, session_id: number): Promise<RoundRow[]> {
  const rows = await tx<(Omit<RoundRow, 'result'> & { result: unknown })[]>`
    SELECT r.number, r.mode, r.query, r.result, coalesce(last.status, 'started') AS status
    FROM rounds r LEFT JOIN LATERAL (
      SELECT status FROM statuses WHERE round_id = r.id ORDER BY created_at DESC, id DESC LIMIT 1) last ON true
    WHERE r.session_id = ${session_id} AND NOT r.preview ORDER BY r.number`
  return rows.map(({ result, ...round }) => ({ ...round, result: readRoundResult(result) }))
}

const readReports = (tx: Transaction, session_id: number) => tx<EvidenceRows['reports']>`
  SELECT DISTINCT ON (t.type) t.type, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM reports t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.session_id = ${session_id} AND NOT r.preview ORDER BY t.type, t.created_at DESC, t.id DESC`

const readLatestCheck = (tx: Transaction, sessionId: number) => tx<NonNullable<EvidenceRows['check']>[]>`
  SELECT t.passed, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM compliance_checks t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.session_id = ${sessionId} ORDER BY t.created_at DESC, t.id DESC LIMIT 1`

const readPlans = (tx: Transaction, session_id: number) => tx<EvidenceRows['plans']>`
  SELECT t.targets, r.number AS round, a.uri, a.file_size_bytes, t.created_at
  FROM engine_plans t JOIN artifacts a ON a.id = t.artifact_id JOIN rounds r ON r.id = t.round_id
  WHERE r.id = (
    SELECT t.round_id FROM reports t JOIN rounds r ON r.id = t.round_id
    WHERE r.session_id = ${session_id} AND t.type = 'generate' ORDER BY t.created_at DESC, t.id DESC LIMIT 1)
  ORDER BY t.created_at DESC, t.id DESC LIMIT ${LATEST_PLANS}`
