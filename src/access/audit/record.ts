import type { Db, Query, Sql } from '../../data/db/sql.ts'
import { storable, storableJson } from '../../data/db/values.ts'

/** The recorded actions. New names may be added; the meaning of a name never changes. */
export const AUDIT_ACTIONS = [
  'round_accepted',
  'round_cancelled',
  'apply_accepted',
  'apply_ended',
  'pull_request_opened',
  'pull_request_updated',
  'merge_begun',
  'merge_completed',
  'session_locked',
  'session_unlocked',
  'state_adopted',
  'roles_changed',
  'user_created',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** The user, or the platform, that performs an action. */
export interface Actor {
  /** The caller, or the owner of the round in which the platform acts; null for neither. */
  user_id: number | null
  /** E-mail or name at the time of the action, or `platform`, where a run and not a caller acts. */
  name: string
  /** Source address of the caller's request; null when unknown or without a request. */
  address: string | null
}

/** Returns the platform as the actor in a round of this user. */
export const platformFor = (userId: number | null): Actor => ({ user_id: userId, name: 'platform', address: null })

/** Names that stand for the platform or for a user without a name, and that nobody may have. For PostgreSQL too. */
const RESERVED = '^\\s*(platform|user-\\d+)\\s*$'
/** Display names, which users choose, that would be taken for somebody else: reserved ones and e-mails. */
export const NO_PERSON = `${RESERVED}|@`
export const isReserved = (name: string): boolean => new RegExp(RESERVED, 'i').test(name)

export const userActor = (
  { id, email, display_name }: { id: number; email: string | null; display_name: string | null },
  address: string | null,
): Actor => {
  const chosen = display_name === null || new RegExp(NO_PERSON, 'i').test(display_name) ? null : display_name
  return { user_id: id, name: email || chosen || `user-${id}`, address }
}

/** One audit entry. A part that only the statement knows is a piece of SQL. */
export interface AuditEntry {
  action: AuditAction | Query
  actor: {
    user_id: number | null | Query
    /** Subject of the token of `user_id`; default: read from the row of the user. */
    subject?: Query
    name: string | Query
    address: string | null
  }
  /** The uuid of the session concerned. */
  session_id?: string | null | Query
  /** Plain JSON: names, numbers, addresses, and the reason of an unlocking. It must not contain secrets or the text of a request. */
  detail?: object | Query
}

/**
 * Returns the statement that adds one entry per row of `source`, or a single one without it. It can be part (`WITH
 * audit AS (…)`) of the statement that performs the recorded action.
 * @param source `FROM … WHERE …`
 */
export const auditInsert = (db: Db, entry: AuditEntry, source: Query = db``): Query => db`
  INSERT INTO audit_records (action, user_id, subject, actor, session_uuid, address, detail)
  SELECT ${entry.action}::text, ${entry.actor.user_id}::integer,
         ${entry.actor.subject ?? db`(SELECT u.subject FROM users u WHERE u.id = ${entry.actor.user_id}::integer)`},
         ${textOf(entry.actor.name)}::text, ${entry.session_id ?? null}::uuid, ${storable(entry.actor.address)}::text, ${jsonOf(entry.detail)}::jsonb
  ${source}`

/** Adds an entry in the transaction that performs the recorded action, so that both are written or neither. */
export async function recordAudit(tx: Db, entry: AuditEntry): Promise<void> {
  await auditInsert(tx, entry)
}

const textOf = (name: string | Query) => (typeof name === 'string' ? storable(name) : name)

const jsonOf = (detail: AuditEntry['detail'] = {}): string | Query =>
  'template' in detail ? detail : storableJson(detail)

const DAY_MS = 24 * 60 * 60 * 1000
/** A hundred years. Dates further back may not be representable. */
const MAX_DAYS = 36_500
const BATCH = 5_000
/** One sweep removes at most a million entries; the next one continues. */
const MOST_BATCHES = 200

/**
 * Removes audit entries and counts of refused sign-ins older than `days`, in batches with a transaction each. Stops
 * between two batches when `signal` fires.
 * @param days 0 keeps everything
 * @returns the number of removed entries
 */
export async function expireAuditRecords(
  sql: Sql,
  options: { days: number; now: Date; signal: AbortSignal },
): Promise<number> {
  const { days, now, signal } = options
  if (days === 0) return 0
  const before = new Date(now.getTime() - Math.min(days, MAX_DAYS) * DAY_MS)
  await sql`DELETE FROM sign_in_refusals WHERE hour < ${before}::timestamptz`
  let removed = 0
  for (let batch = 0; batch < MOST_BATCHES && !signal.aborted; batch++) {
    const [row] = await sql<
      { deleted: number }[]
    >`SELECT expire_audit_records(${before}::timestamptz, ${BATCH}) AS deleted`
    removed += row?.deleted ?? 0
    if ((row?.deleted ?? 0) < BATCH) break
  }
  return removed
}
