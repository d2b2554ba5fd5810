import { silentLogger } from '../../src/base/log.ts'
import { startSendingQueue } from '../../src/data/queue/pg-boss.ts'
import { createRoundJournal, type JournalOptions } from '../../src/events/log-writer.ts'
import { memoryCache } from '../helpers/memory-cache.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

/** A database with an owner of sessions. */
export async function createJournalWorld() {
  const database = await createTestDatabase()
  const { sql } = database
  const queue = await startSendingQueue(sql, silentLogger)
  const context = { sql, queue, cache: memoryCache(), now: () => new Date(), log: silentLogger }
  const user = await createUser(sql, 'owner')
  return {
    database,
    sql,
    context,
    openSession: () => openSession(context, user.id),
    /** A claimed round of a session, by default of a new one, with its journal. */
    run: async (options: Partial<JournalOptions> & { uuid?: string } = {}) => {
      const uuid = options.uuid ?? (await openSession(context, user.id))
      const run = await runRound(context, uuid)
      const journal = createRoundJournal(sql, run.round, { log: silentLogger, mask: (text) => text, ...options })
      return { uuid, ...run, journal }
    },
    /** What is stored of a session, the oldest first. */
    stored: async (uuid: string) => {
      const rows = await sql<{ channel: string; event: Record<string, unknown> }[]>`
        SELECT e.channel, e.event FROM round_events e JOIN sessions s ON s.id = e.session_id
        WHERE s.uuid = ${uuid} ORDER BY e.id`
      return rows.map(({ channel, event }): Record<string, unknown> => ({ channel, ...event }))
    },
    close: () => database.drop(),
  }
}
