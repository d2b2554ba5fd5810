import type { TerminalStatus } from '../base/vocabulary.ts'
import type { Sql } from '../data/db/types.ts'
import { type Frame, toFrame } from './frames.ts'
import type { JournalChannel, JournalEvent } from './round-event.ts'

/** Where a watcher of a session begins. */
export interface Beginning {
  /** The round that was asked for, or the newest. */
  round: number
  /** Events with greater ids are those of the round and of later ones. */
  cursor: number
  /** The newest event of the session in this channel; 0 without any. */
  head: number
}

/**
 * Finds where a watcher begins: at the first event of a round, by default of the newest one.
 * Answers null when the session has no such round.
 */
export async function readBeginning(
  sql: Sql,
  sessionId: number,
  channel: JournalChannel,
  round: number | null,
): Promise<Beginning | null> {
  const [row] = await sql<Beginning[]>`
    SELECT r.number AS round, head.id AS head, coalesce(
      (SELECT min(id) - 1 FROM round_events WHERE round_id = r.id AND channel = ${channel}), head.id) AS cursor
    FROM rounds r, (
      SELECT coalesce(max(id), 0) AS id FROM round_events WHERE session_id = ${sessionId} AND channel = ${channel}
    ) AS head
    WHERE r.session_id = ${sessionId} AND (${round}::int IS NULL OR r.number = ${round}::int)
    ORDER BY r.number DESC LIMIT 1`
  return row ?? null
}

/** How a round ended; null while it has not. */
export async function readRoundEnd(sql: Sql, sessionId: number, round: number): Promise<TerminalStatus | null> {
  const [row] = await sql<{ status: TerminalStatus }[]>`
    SELECT s.status FROM rounds r JOIN statuses s ON s.round_id = r.id
    WHERE r.session_id = ${sessionId} AND r.number = ${round} AND r.finished_at IS NOT NULL
    ORDER BY s.id DESC LIMIT 1`
  return row?.status ?? null
}

/** What to read: the events of a session in a channel with ids greater than `after`. */
export interface Wanted {
  sessionId: number
  channel: JournalChannel
  after: number
  /** Events of this round alone; null: of all rounds. */
  round: number | null
}
export interface Page {
  frames: Frame[]
  /** Whether there are more events than these. */
  isFull: boolean
}

/** Most events of a page, and the bytes after which no further event is added to it. */
const PAGE_ROWS = 100
const PAGE_BYTES = 64 * 1024

interface EventRow {
  place: number
  id: number
  round: number
  at: string
  event: JournalEvent
  found: number
}

/** Reads a page for each of `wanted`, in the same order, with one query. */
export async function readPages(sql: Sql, wanted: readonly Wanted[]): Promise<Page[]> {
  const rows = await sql<EventRow[]>`
    SELECT w.place::int AS place, page.*
    FROM unnest(
      ${wanted.map(({ sessionId }) => sessionId)}::int[], ${wanted.map(({ channel }) => channel)}::text[],
      ${wanted.map(({ after }) => after)}::bigint[], ${wanted.map(({ round }) => round)}::int[]
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
  const pages: Page[] = wanted.map(() => ({ frames: [], isFull: false }))
  for (const row of rows) {
    const page = pages[row.place - 1]
    page?.frames.push(toFrame(row))
    if (page) page.isFull = row.found === PAGE_ROWS || page.frames.length < row.found
  }
  return pages
}
