import type { Db, Sql } from '../data/db/sql.ts'
import { isRemovable } from '../rounds/removal.ts'

/** A place in the order of last activity, after which a search goes on. */
export interface Place {
  id: number
  /** As the row has it, with six digits. */
  updated_at: string
}

export interface OldSession extends Place {
  uuid: string
  /** Address of its repository. */
  uri: string
  /** Numbers of its pull requests of which the platform does not know that they are merged. */
  pull_requests: number[]
}

/**
 * Finds sessions that may be removed, the longest inactive first.
 * @param options.before nothing has happened in them since
 * @param options.after where an earlier search ended; null to begin
 */
export async function findOldSessions(
  sql: Db,
  { before, after, now, limit }: { before: Date; after: Place | null; now: Date; limit: number },
): Promise<OldSession[]> {
  return await sql<OldSession[]>`
    SELECT s.id, s.uuid, s.updated_at, w.uri, ARRAY(
      SELECT DISTINCT p.number FROM rounds r JOIN pull_requests p ON p.round_id = r.id
      WHERE r.session_id = s.id AND NOT EXISTS (
        SELECT FROM audit_records e WHERE e.session_uuid = s.uuid AND e.action = 'merge_completed'
          AND e.detail->>'url' = p.url)
    ) AS pull_requests
    FROM sessions s JOIN workspaces w ON w.session_id = s.id
    WHERE ${isRemovable(sql, before)}
      AND (s.updated_at, s.id) > (${after?.updated_at ?? '-infinity'}::timestamptz, ${after?.id ?? 0}::integer)
      AND NOT EXISTS (SELECT FROM kept_sessions k WHERE k.session_id = s.id AND k.until > ${now})
    ORDER BY s.updated_at, s.id LIMIT ${limit}`
}

/** Remembers that sessions are not to be looked at before a time. */
export const keepSessions = (sql: Db, ids: readonly number[], until: Date) => sql`
  INSERT INTO kept_sessions (session_id, until)
  SELECT id, ${until}::timestamptz FROM sessions WHERE id = ANY(${[...ids]}::integer[]) FOR KEY SHARE
  ON CONFLICT (session_id) DO UPDATE SET until = excluded.until`

/** Counts the sessions in which nothing has happened since a time. */
export async function countOldSessions(sql: Sql, before: Date): Promise<number> {
  const [row] = await sql<{ old: number }[]>`SELECT count(*) AS old FROM sessions WHERE updated_at < ${before}`
  return row?.old ?? 0
}

/** Reads removed sessions whose objects may be left, the first removed first. */
export async function readLeftObjects(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ uuid: string }[]>`
    SELECT uuid FROM removed_sessions WHERE objects_gone_at IS NULL ORDER BY removed_at, uuid LIMIT ${limit}`
  return rows.map(({ uuid }) => uuid)
}

export const markObjectsGone = (sql: Sql, uuids: readonly string[]) => sql`
  UPDATE removed_sessions SET objects_gone_at = clock_timestamp()
  WHERE uuid = ANY(${[...uuids]}::uuid[]) AND objects_gone_at IS NULL`

/** Forgets removed sessions without objects. Workers remove their folders before, if they run at all in that time. */
export const forgetRemovedSessions = (sql: Sql, before: Date) =>
  sql`DELETE FROM removed_sessions WHERE objects_gone_at < ${before}`
