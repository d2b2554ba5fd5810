import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/types.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { assertHeld, heldSessionQuery } from '../rounds/round.ts'
import { EVENTS_BELL } from './bell.ts'
import { ALLOWANCES, type Allowance, createAdmission } from './limits.ts'
import type { JournalChannel, JournalEvent, RoundJournal } from './round-event.ts'
import { toStorable } from './storable-event.ts'
import { createQueue } from './write-queue.ts'

export interface JournalOptions {
  log: Logger
  /** Masks the secrets that are known from the start, those of the configuration. */
  mask: (text: string) => string
  /** By default those of `ALLOWANCES`. */
  allowances?: Record<JournalChannel, Allowance>
}

interface Entry {
  channel: JournalChannel
  event: JournalEvent
}

/**
 * Makes the journal of a round. Events wait in memory and one task writes them, many at a time: the first at once,
 * those that come during a write together after it. When the database fails, they wait for the next event or for the
 * end of the round. When another worker has the round, they are dropped.
 */
export function createRoundJournal(sql: Sql, round: ClaimedRound, options: JournalOptions): RoundJournal {
  const { log, allowances = ALLOWANCES } = options
  const masks = [options.mask]
  const admissions = { activity: createAdmission(allowances.activity), output: createAdmission(allowances.output) }
  const queue = createQueue<Entry>(async (entries) => {
    const mask = (text: string) => masks.reduce((masked, next) => next(masked), text)
    await insertEvents(sql, round, entries, mask)
  }, log)
  const take = (channel: JournalChannel, event: JournalEvent) => {
    queue.add(admissions[channel].admit(event).map((admitted) => ({ channel, event: admitted })))
  }
  if (round.attempt > 1)
    queue.first(async () => {
      for (const { channel, ...stored } of await readStored(sql, round)) admissions[channel].count(stored)
    })
  return {
    activity: (event) => take('activity', event),
    output: (event) => take('output', event),
    maskWith: (mask) => void masks.push(mask),
    close: () => queue.close(),
  }
}

/**
 * Stores events in their order and rings the bell of their channels.
 * Errors: `LeaseLost`; those of the database.
 */
async function insertEvents(
  sql: Sql,
  round: ClaimedRound,
  entries: readonly Entry[],
  mask: (text: string) => string,
): Promise<void> {
  const rows = entries.flatMap(({ channel, event }) =>
    toStorable(event, mask).map((stored) => ({ channel, event: JSON.stringify(stored) })),
  )
  const held = await sql`
    WITH session AS (${heldSessionQuery(sql, round)}), written AS (
      INSERT INTO round_events (session_id, round_id, channel, event)
      SELECT session.id, ${round.id}, row.channel, row.event::jsonb
      FROM session,
        unnest(${rows.map(({ channel }) => channel)}::text[], ${rows.map(({ event }) => event)}::text[])
        WITH ORDINALITY AS row (channel, event, place)
      ORDER BY row.place
      RETURNING channel
    )
    SELECT pg_notify(${EVENTS_BELL}, rung.channel || ':' || session.uuid)
    FROM session, (SELECT DISTINCT channel FROM written) AS rung`
  assertHeld(held)
}

/** What earlier attempts of the round have stored. */
const readStored = (sql: Sql, round: ClaimedRound) =>
  sql<(Allowance & { channel: JournalChannel })[]>`
    SELECT channel, count(*)::int AS rows, sum(octet_length(event::text))::int AS bytes
    FROM round_events WHERE round_id = ${round.id} GROUP BY channel`
