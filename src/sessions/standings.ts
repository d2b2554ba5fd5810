import type { Status } from '../base/vocabulary.ts'
import type { Db } from '../data/db/types.ts'

/** What decides whether anybody still needs what a session left on a disk. */
export interface Standing {
  uuid: string
  in_flight: boolean
  last_status: Status
  /** Whether the session has a pinned plan by the database. */
  has_seal: boolean
}

/** Standings by uuid in lower case; a session that this database does not know is missing. */
export async function standingsOf(sql: Db, uuids: readonly string[]): Promise<Map<string, Standing>> {
  const rows = await sql<Standing[]>`
    SELECT s.uuid, s.in_flight, s.last_status, p.session_id IS NOT NULL AS has_seal
    FROM sessions s LEFT JOIN pins p ON p.session_id = s.id WHERE s.uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map((row) => [row.uuid, row]))
}
