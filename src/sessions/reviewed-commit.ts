import type { Db } from '../data/db/types.ts'

/**
 * Reads the commit of the session branch with which the last completed round ended, by the primary key of the session.
 * Answers an empty text when no round has completed, and null when the commit is not known.
 */
export async function readReviewedCommit(sql: Db, sessionId: number): Promise<string | null> {
  const [row] = await sql<{ reviewed_commit: string | null }[]>`
    SELECT reviewed_commit FROM sessions WHERE id = ${sessionId}`
  return row?.reviewed_commit ?? null
}
