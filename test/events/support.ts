import { silentLogger } from '../../src/base/log.ts'
import { startSendingQueue } from '../../src/data/queue/pg-boss.ts'
import { type EventLogOptions, openEventLog } from '../../src/events/event-log.ts'
import { memoryCache } from '../helpers/memory-cache.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

/** A database with an owner of sessions. */
export async function createEventWorld() {
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
    /** A claimed round of a session, by default of a new one, with its eventLog. */
    run: async (options: Partial<EventLogOptions> & { uuid?: string } = {}) => {
      const uuid = options.uuid ?? (await openSession(context, user.id))
      const run = await runRound(context, uuid)
      const eventLog = openEventLog(sql, run.round, { log: silentLogger, mask: (text) => text, ...options })
      return { uuid, ...run, eventLog }
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
