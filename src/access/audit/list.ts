import type { Query, Sql } from '../../data/db/sql.ts'
import { containing } from '../../data/db/values.ts'
import type { AuditAction } from './record.ts'

/** An entry as the API returns it. */
export interface AuditRecord {
  id: number
  /** Like `2026-03-01T14:25:30.123456Z`, in UTC. */
  at: string
  action: AuditAction
  actor: string
  user_id: number | null
  /** The subject of that user's token at that time. */
  subject: string | null
  session_id: string | null
  address: string | null
  detail: Record<string, unknown>
}

export interface AuditFilter {
  action?: AuditAction
  /** Part of the user's current e-mail, case-insensitive and without wildcards. */
  user_email?: string
  session_id?: string
  /** Start of the period (inclusive), as a timestamp with its offset. */
  after?: string
  /** End of the period (exclusive). */
  before?: string
}

/** Entries are counted only up to this number, because counting a million takes longer than reading a page. */
export const MOST_COUNTED = 5_000

/**
 * Lists entries, newest first. A page beyond the end or beyond the first `MOST_COUNTED` entries is empty. `total` is at
 * most that number; it is exact unless more entries match.
 */
export async function listAuditRecords(
  sql: Sql,
  filter: AuditFilter & { page: number; page_size: number },
): Promise<{ items: AuditRecord[]; total: number; total_is_exact: boolean }> {
  const { where } = await buildCondition(sql, filter)
  const [counted] = await sql<{ total: number }[]>`
    SELECT count(*) AS total FROM (SELECT 1 FROM audit_records WHERE ${where} LIMIT ${MOST_COUNTED + 1}) AS found
  `.unprepared()
  const found = counted?.total ?? 0
  const total = Math.min(found, MOST_COUNTED)
  const offset = (filter.page - 1) * filter.page_size
  const limit = Math.min(filter.page_size, total - offset)
  const items = limit <= 0 ? [] : await readRows(sql, where, sql`LIMIT ${limit} OFFSET ${offset}`)
  return { items, total, total_is_exact: found === total }
}

/** Reads matching entries in batches, newest first, at most `most` in all. */
export async function* readAuditRecords(
  sql: Sql,
  filter: AuditFilter,
  { batch, most }: { batch: number; most: number },
): AsyncGenerator<AuditRecord[]> {
  const { where } = await buildCondition(sql, filter)
  let older = where
  for (let left = most; left > 0; ) {
    const rows = await readRows(sql, older, sql`LIMIT ${Math.min(batch, left)}`)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    left -= rows.length
    older = sql`${where} AND (at, id) < (${last.at}::timestamptz, ${last.id}::bigint)`
  }
}

/** Reads the rows of one page. The ids are found with an index alone. */
const readRows = async (sql: Sql, where: Query, window: Query): Promise<AuditRecord[]> => [
  ...(await sql<AuditRecord[]>`
    SELECT r.id, r.at, r.action, r.actor, r.user_id, r.subject, r.session_uuid AS session_id, r.address, r.detail
    FROM (SELECT id FROM audit_records WHERE ${where} ORDER BY at DESC, id DESC ${window}) AS found
    JOIN audit_records r ON r.id = found.id
    ORDER BY r.at DESC, r.id DESC`.unprepared()),
]

/** Builds the condition, wrapped in an object because awaiting a query would run it. */
async function buildCondition(sql: Sql, filter: AuditFilter): Promise<{ where: Query }> {
  const { action, session_id, after, before } = filter
  const email = filter.user_email?.trim() ? filter.user_email : null
  const conditions = [
    action === undefined ? null : sql`action = ${action}`,
    session_id === undefined ? null : sql`session_uuid = ${session_id}::uuid`,
    after === undefined ? null : sql`at >= ${after}::timestamptz`,
    before === undefined ? null : sql`at < ${before}::timestamptz`,
    email === null ? null : usersCondition(sql, email, await findUsers(sql, email)),
  ]
  return { where: conditions.reduce<Query>((all, one) => (one ? sql`${all} AND ${one}` : all), sql`true`) }
}

const MAX_LISTED_USERS = 500

/** Returns the condition for these users. The ids are inlined, so that the planner picks the best index. */
function usersCondition(sql: Sql, email: string, ids: number[]): Query {
  const [first] = ids
  if (first === undefined) return sql`false`
  if (ids.length === 1) return sql`user_id = ${first}`
  if (ids.length > MAX_LISTED_USERS)
    return sql`user_id IN (SELECT users.id FROM users WHERE users.email ILIKE ${containing(email)})`
  return sql`user_id = ANY(${ids}::integer[])`
}

async function findUsers(sql: Sql, email: string): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    SELECT id FROM users WHERE email ILIKE ${containing(email)} LIMIT ${MAX_LISTED_USERS + 1}`.unprepared()
  return rows.map(({ id }) => id)
}
