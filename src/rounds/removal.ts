import type { Db, Query, Sql } from '../data/db/sql.ts'
import { deleteArtifactRows } from './artifact-rows.ts'
import { transition } from './state-machine.ts'

/**
 * Returns the condition under which the session `s` may be removed for its age, except what only its git host knows:
 * nothing has happened in it since `before`, no round is open, it is not locked, and no apply of it is the last one of
 * its project, because that is the record of what stands in the cloud.
 */
export const isRemovable = (sql: Db, before: Date): Query => sql`
  s.updated_at < ${before} AND NOT s.in_flight AND NOT s.is_blocked
  AND NOT EXISTS (SELECT FROM rounds r WHERE r.session_id = s.id AND r.finished_at IS NULL)
  AND NOT EXISTS (
    SELECT FROM rounds r JOIN applies a ON a.round_id = r.id
    WHERE r.session_id = s.id AND a.intended_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM applies later
      WHERE later.project_id = a.project_id AND later.round_id > a.round_id AND later.intended_at IS NOT NULL))`

/**
 * Removes sessions with everything that belongs to them, and remembers that objects of them are left. Sessions that
 * somebody is changing at the moment are left out, as are those that no longer meet `isRemovable`.
 * @returns the uuids of the removed sessions
 */
export const removeSessions = transition(
  {
    moves: { ended: 'none', failed: 'none' },
    guard: 'the session is older than `retention.days`, not locked, and has not the last apply of its project',
    caller: 'worker, in its hourly sweep',
  },
  async (sql: Sql, ids: readonly number[], before: Date): Promise<string[]> =>
    await sql.begin(async (tx) => {
      const held = await tx<{ id: number; uuid: string }[]>`
        SELECT s.id, s.uuid FROM sessions s WHERE s.id = ANY(${[...ids]}::integer[]) AND ${isRemovable(tx, before)}
        FOR UPDATE SKIP LOCKED`
      if (held.length === 0) return []
      const uuids = held.map(({ uuid }) => uuid)
      const sessions = tx`${held.map(({ id }) => id)}::integer[]`
      const rounds = tx`SELECT id FROM rounds WHERE session_id = ANY(${sessions})`
      await tx`
        INSERT INTO removed_sessions (uuid) SELECT unnest(${uuids}::uuid[])
        ON CONFLICT (uuid) DO UPDATE SET objects_gone_at = NULL`
      await deleteArtifactRows(tx, rounds)
      await tx`DELETE FROM pull_requests WHERE round_id IN (${rounds})`
      await tx`DELETE FROM project_applies WHERE round_id IN (${rounds})`
      await tx`DELETE FROM applies WHERE round_id IN (${rounds})`
      for (const table of ['saved_plans', 'round_events', 'statuses', 'rounds'])
        await tx`DELETE FROM ${tx(table)} WHERE session_id = ANY(${sessions})`
      for (const table of ['workspaces', 'engine_providers', 'histories'])
        await tx`DELETE FROM ${tx(table)} WHERE session_id = ANY(${sessions})`
      await tx`DELETE FROM sessions WHERE id = ANY(${sessions})`
      return uuids
    }),
)
