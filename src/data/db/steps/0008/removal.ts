import type { Transaction } from '../../sql.ts'

/**
 * Adds the memory of sessions that were removed for their age, whose objects and folders may be left, and of those that
 * stay although they are old enough. The index finds the last apply of a project.
 */
export async function addRemoval(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE removed_sessions (
      uuid uuid PRIMARY KEY,
      removed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- Null while the object store may have objects of the session.
      objects_gone_at timestamptz
    );
    CREATE INDEX removed_sessions_left ON removed_sessions (removed_at) WHERE objects_gone_at IS NULL;
    CREATE INDEX removed_sessions_gone ON removed_sessions (objects_gone_at) WHERE objects_gone_at IS NOT NULL;

    CREATE TABLE kept_sessions (
      session_id integer PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
      -- The session is not looked at before.
      until timestamptz NOT NULL
    );

    CREATE INDEX applies_submitted ON applies (project_id, round_id) WHERE intended_at IS NOT NULL;
  `.simple()
}
