import { connect } from '../../src/data/db/pool.ts'

/** What the platform keeps of rounds and does not publish. */
export interface RoundFacts {
  /** Status texts are not counted. */
  model_calls: number
  notes: string[]
}
export interface RoundFactsReader {
  /** Adds up the rounds of a session. */
  read(sessionUuid: string): Promise<RoundFacts>
  close(): Promise<void>
}

interface Row {
  usage: { chains?: Record<string, { calls: number }> } | null
  result: { notes?: string[] } | null
}

/** Reads the database of the embedded stack. No connection is opened before the first reading. */
export function createRoundFactsReader(databaseUrl: string): RoundFactsReader {
  const sql = connect(databaseUrl, { max: 1 })
  return {
    read: async (sessionUuid) => {
      const rows = await sql<Row[]>`
        SELECT rounds.usage, rounds.result FROM rounds JOIN sessions ON sessions.id = rounds.session_id
        WHERE sessions.uuid = ${sessionUuid} ORDER BY rounds.id`
      const chains = rows.flatMap(({ usage }) => Object.entries(usage?.chains ?? {}))
      return {
        model_calls: chains.reduce((sum, [name, { calls }]) => sum + (name === 'STATUS_UPDATE' ? 0 : calls), 0),
        notes: rows.flatMap(({ result }) => result?.notes ?? []),
      }
    },
    close: () => sql.end(),
  }
}
