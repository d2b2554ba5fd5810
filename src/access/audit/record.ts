import type { Db, Query } from '../../data/db/types.ts'
import { storable } from '../../data/db/values.ts'

/** What is recorded. New names may be added; the meaning of a name never changes. */
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
  'roles_changed',
  'user_created',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** The name of the platform itself, where a run and not a caller did something. */
export const PLATFORM = 'platform'

/** Who does something. */
export interface Actor {
  /** The caller, or the owner of the round in which the platform does it; null for neither. */
  user_id: number | null
  /** E-mail or name at this time, or `PLATFORM`. */
  name: string
  /** Where the caller's request came from; null when it is not known or when there is no request. */
  address: string | null
}

/** The platform as the actor in a round of this user. */
export const platformFor = (userId: number | null): Actor => ({ user_id: userId, name: PLATFORM, address: null })

/** A user as the actor. */
export const userActor = (
  user: { id: number; email: string | null; display_name: string | null },
  address: string | null,
): Actor => ({ user_id: user.id, name: user.email || user.display_name || `user-${user.id}`, address })

/** One entry of the record. A part that only the statement knows is a piece of SQL. */
export interface AuditEntry {
  action: AuditAction | Query
  actor: { user_id: number | null | Query; name: string | Query; address: string | null }
  /** The uuid of the session that it is about. */
  session_id?: string | null | Query
  /** Plain JSON: names, numbers and addresses of things. It must hold no secret and no text of a request. */
  detail?: object | Query
}

/**
 * The statement that adds entries, one for each row of `source`, for example as a part `WITH audit AS (…)` of the
 * statement that does what they tell of. Without a source it adds one.
 * @param source `FROM … WHERE …`
 */
export const auditInsert = (db: Db, entry: AuditEntry, source: Query = db``): Query => db`
  INSERT INTO audit_records (action, user_id, actor, session_uuid, address, detail)
  SELECT ${entry.action}::text, ${entry.actor.user_id}::integer, ${textOf(entry.actor.name)}::text,
         ${entry.session_id ?? null}::uuid, ${storable(entry.actor.address)}::text, ${jsonOf(entry.detail)}::jsonb
  ${source}`

/** Adds an entry inside the transaction that does what it tells of, so that either both are written or neither. */
export async function recordAudit(tx: Db, entry: AuditEntry): Promise<void> {
  await auditInsert(tx, entry)
}

const textOf = (name: string | Query) => (typeof name === 'string' ? storable(name) : name)

function jsonOf(detail: AuditEntry['detail'] = {}): string | Query {
  if ('template' in detail) return detail
  return JSON.stringify(detail, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
}
