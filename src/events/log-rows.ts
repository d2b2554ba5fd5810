import type { TerminalStatus } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Sql } from '../data/db/sql.ts'
import { assertHeld, type ClaimedRound, heldSessionQuery } from '../rounds/round.ts'
import type { ChannelLimit } from './limits.ts'
import { type Frame, toFrame } from './reader-backlog.ts'
import type { EventChannel, RoundEvent } from './round-event.ts'

/** The NOTIFY channel of new events. The payload is their channel and session, `activity:<uuid>`. */
export const EVENTS_CHANNEL = 'platform_events'

export interface EventEntry {
  channel: EventChannel
  event: RoundEvent
}

/** Stores events in order and notifies the streams of their channels. Throws `LeaseLost` and database errors. */
export async function insertEvents(sql: Sql, round: ClaimedRound, entries: readonly EventEntry[]): Promise<void> {
  const rows = entries.map(({ channel, event }) => ({ channel, event: JSON.stringify(event) }))
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
    SELECT pg_notify(${EVENTS_CHANNEL}, fresh.channel || ':' || session.uuid)
    FROM session, (SELECT DISTINCT channel FROM written) AS fresh`
  assertHeld(held)
}

/** Counts the events stored by earlier runs of the round. */
export const countStored = (sql: Sql, round: ClaimedRound) =>
  sql<(ChannelLimit & { channel: EventChannel })[]>`
    SELECT channel, count(*)::int AS rows, sum(octet_length(event::text))::int AS bytes
    FROM round_events WHERE round_id = ${round.id} GROUP BY channel`

export interface StreamStart {
  /** The requested round, or the newest. */
  round: number
  /** Events with greater ids are those of the round and of later ones. */
  cursor: number
  /** The newest event of the session in this channel; 0 for none. */
  head: number
}

/** Finds the start of a stream: the first event of a round, by default the newest. Null when there is no such round. */
export async function readBeginning(
  sql: Sql,
  sessionId: number,
  channel: EventChannel,
  round: number | null,
): Promise<StreamStart | null> {
  const [row] = await sql<StreamStart[]>`
    SELECT r.number AS round, head.id AS head, coalesce(
      (SELECT min(id) - 1 FROM round_events WHERE round_id = r.id AND channel = ${channel}), head.id) AS cursor
    FROM rounds r, (
      SELECT coalesce(max(id), 0) AS id FROM round_events WHERE session_id = ${sessionId} AND channel = ${channel}
    ) AS head
    WHERE r.session_id = ${sessionId} AND (${round}::int IS NULL OR r.number = ${round}::int)
    ORDER BY r.number DESC LIMIT 1`
  return row ?? null
}

/** Reads the final status of a round; null while it runs. */
export async function readRoundEnd(sql: Sql, sessionId: number, round: number): Promise<TerminalStatus | null> {
  const [row] = await sql<{ status: TerminalStatus }[]>`
    SELECT s.status FROM rounds r JOIN statuses s ON s.round_id = r.id
    WHERE r.session_id = ${sessionId} AND r.number = ${round} AND r.finished_at IS NOT NULL
    ORDER BY s.id DESC LIMIT 1`
  return row?.status ?? null
}

/** A request for the events of a session in a channel with ids greater than `after`. */
export interface PageRequest {
  sessionId: number
  channel: EventChannel
  after: number
  /** The round of the events; null for all rounds. */
  round: number | null
}
export interface Page {
  frames: Frame[]
  /** True if there are more events than these. */
  isFull: boolean
}

/** Maximum events of a page, and the bytes after which no further event is added to it. */
const PAGE_ROWS = 100
const PAGE_BYTES = 64 * 1024

/** Reads a page for each of `requests`, in the same order, with one query. */
export async function readPages(sql: Sql, requests: readonly PageRequest[]): Promise<Page[]> {
  const rows = await sql<(Parameters<typeof toFrame>[0] & { place: number; found: number })[]>`
    SELECT w.place::int AS place, page.*
    FROM unnest(
      ${requests.map(({ sessionId }) => sessionId)}::int[], ${requests.map(({ channel }) => channel)}::text[],
      ${requests.map(({ after }) => after)}::bigint[], ${requests.map(({ round }) => round)}::int[]
    ) WITH ORDINALITY AS w (session_id, channel, after, round, place)
    CROSS JOIN LATERAL (
      SELECT id, round, at, event, found FROM (
        SELECT next.*, count(*) OVER () AS found,
          sum(octet_length(event::text)) OVER (ORDER BY id) - octet_length(event::text) AS before
        FROM (
          SELECT e.id, r.number AS round, e.created_at AS at, e.event
          FROM round_events e JOIN rounds r ON r.id = e.round_id
          WHERE e.session_id = w.session_id AND e.channel = w.channel AND e.id > w.after
            AND (w.round IS NULL OR r.number = w.round)
          ORDER BY e.id LIMIT ${PAGE_ROWS}
        ) AS next
      ) AS measured
      WHERE before < ${PAGE_BYTES}
    ) AS page
    ORDER BY w.place, page.id`
  const pages: Page[] = requests.map(() => ({ frames: [], isFull: false }))
  for (const row of rows) {
    const page = pages[row.place - 1]
    page?.frames.push(toFrame(row))
    if (page) page.isFull = row.found === PAGE_ROWS || page.frames.length < row.found
  }
  return pages
}

const EVENT_DAYS = 30
/** Maximum events per DELETE statement, so that none locks the table for long. */
const DELETED_AT_ONCE = 5_000

/**
 * Deletes expired events in batches and returns their number.
 * @param signal stops it between two batches
 */
export async function deleteOldEvents(
  { sql, now }: Pick<Context, 'sql' | 'now'>,
  signal: AbortSignal,
  batch = DELETED_AT_ONCE,
): Promise<number> {
  const limit = new Date(now().getTime() - EVENT_DAYS * 24 * 3_600_000)
  let deleted = 0
  while (!signal.aborted) {
    // Ids rise with time, so the oldest events are found by id alone.
    const { count } = await sql`
      DELETE FROM round_events WHERE id IN (
        SELECT id FROM (SELECT id, created_at FROM round_events ORDER BY id LIMIT ${batch}) AS oldest
        WHERE created_at < ${limit})`
    deleted += count
    if (count < batch) break
  }
  return deleted
}
