import { LeaseLost } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { endsWithin } from '../../base/time.ts'
import type { Sql } from '../../data/db/types.ts'
import { assertHeld, heldSessionQuery } from '../status.ts'
import type { ClaimedRound } from '../types.ts'
import { ALLOWANCES, type Allowance, createAdmission } from './allowance.ts'
import { EVENTS_BELL } from './bell.ts'
import { toStorable } from './storable-event.ts'
import type { JournalChannel, JournalEvent, RoundJournal } from './types.ts'

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

/** Most events of one statement. */
const BATCH = 200
/** How long the end of a round waits for its last events. */
const CLOSE_MS = 1_000

/**
 * Makes the journal of a round. Events wait in memory and one task writes them, many at a time: the first at once,
 * those that come during a write together after it. When the database fails, they wait for the next event or for the
 * end of the round. When another worker has the round, they are dropped.
 */
export function createRoundJournal(sql: Sql, round: ClaimedRound, options: JournalOptions): RoundJournal {
  const { log, allowances = ALLOWANCES } = options
  const masks = [options.mask]
  const admissions = { activity: createAdmission(allowances.activity), output: createAdmission(allowances.output) }
  const queue = createQueue(async (entries) => {
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

/** Hands entries on in batches, one batch at a time. A batch that fails stays in the queue. */
function createQueue(write: (entries: readonly Entry[]) => Promise<void>, log: Logger) {
  const entries: Entry[] = []
  let before = async () => {}
  let writing: Promise<void> | null = null
  let isOver = false
  let hasFailed = false

  const drain = async () => {
    await before()
    before = async () => {}
    while (entries.length > 0 && !isOver) {
      const batch = entries.slice(0, BATCH)
      await write(batch)
      entries.splice(0, batch.length)
    }
  }
  const giveUp = (error: unknown) => {
    // Data that the database refuses would be refused again.
    if (isRefusedData(error)) entries.splice(0, BATCH)
    if (error instanceof LeaseLost) isOver = true
    else if (!hasFailed) log.warn('events of the round could not be stored; its watchers may miss some', { error })
    hasFailed = true
  }
  const start = (): Promise<void> => {
    if (entries.length === 0 || isOver) return writing ?? Promise.resolve()
    // The promise that is awaited first lets the caller add more events of the same moment.
    writing ??= Promise.resolve()
      .then(drain)
      .then(
        () => {
          writing = null
          return start()
        },
        (error: unknown) => {
          writing = null
          giveUp(error)
        },
      )
    return writing
  }
  return {
    /** Does this before the first write. */
    first: (work: () => Promise<void>) => {
      before = work
    },
    add: (added: readonly Entry[]) => {
      if (isOver) return
      entries.push(...added)
      void start()
    },
    close: async () => {
      // When the write that is under way fails, it is tried once more.
      const isStored = await endsWithin(
        CLOSE_MS,
        start().then(() => start()),
      )
      if (!isStored) log.warn('the last events of the round were not stored in time', { events: entries.length })
      isOver = true
      entries.length = 0
    },
  }
}

/** Whether the server refused the values themselves (classes 22 and 23 of SQLSTATE). */
const isRefusedData = (error: unknown) =>
  error instanceof Error && 'severity' in error && 'code' in error && /^2[23]/.test(String(error.code))

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
