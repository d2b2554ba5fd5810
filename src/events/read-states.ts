import type { Db } from '../data/db/types.ts'
import type { SessionState } from './types.ts'

/** Current states by session uuid, in one query; unknown sessions are missing from the answer. */
export async function readStates(sql: Db, uuids: readonly string[]): Promise<Map<string, SessionState>> {
  const rows = await sql<(SessionState & { uuid: string })[]>`
    SELECT uuid, last_status AS status, last_message AS message, in_flight
    FROM sessions WHERE uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map(({ uuid, ...state }) => [uuid, state]))
}
