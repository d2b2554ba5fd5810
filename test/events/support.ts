import { silentLogger } from '../../src/base/log.ts'
import { type EventLogOptions, openEventLog } from '../../src/events/event-log.ts'
import { runRound } from '../helpers/sessions.ts'
import { createSession, useVerbs } from '../sessions/fixtures.ts'

/** Provides a database with sessions whose rounds write events. */
export function useEventLogs() {
  const { db, context } = useVerbs()
  return {
    db,
    context,
    openSession: () => createSession(context),
    /** Claims a round of a session, by default of a new one, and returns it with its event log. */
    run: async (options: Partial<EventLogOptions> & { uuid?: string } = {}) => {
      const uuid = options.uuid ?? (await createSession(context))
      const run = await runRound(context, uuid)
      const eventLog = openEventLog(db.sql, run.round, { log: silentLogger, mask: (text) => text, ...options })
      return { uuid, ...run, eventLog }
    },
    /** Reads the stored events of a session, the oldest first. */
    stored: async (uuid: string) => {
      const rows = await db.sql<{ channel: string; event: Record<string, unknown> }[]>`
        SELECT e.channel, e.event FROM round_events e JOIN sessions s ON s.id = e.session_id
        WHERE s.uuid = ${uuid} ORDER BY e.id`
      return rows.map(({ channel, event }): Record<string, unknown> => ({ channel, ...event }))
    },
  }
}
