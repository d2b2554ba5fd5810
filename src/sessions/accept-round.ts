import { conflict } from '../base/errors.ts'
import type { Mode } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { sessionAggregateKey } from './cache-keys.ts'
import { notifyStatus } from './status-channel.ts'

export interface NextRound {
  session_uuid: string
  mode: Mode
  query: string
  is_partial: boolean
}

/**
 * Opens the next round of an existing session when it is idle and not finished, with status
 * `started` and the queue's message, all or nothing. Otherwise nothing changes and the log says why.
 * Errors: 409 for an apply on a locked session, whatever else its state is.
 */
export async function acceptRound(
  context: Pick<Context, 'sql' | 'queue' | 'cache' | 'log'>,
  input: NextRound,
): Promise<void> {
  const accepted = await context.sql.begin(async (tx) => {
    const round_id = await openRound(tx, { ...input, query: storable(input.query) })
    if (round_id === null) return false
    await context.queue.enqueue(tx, round_id)
    await notifyStatus(tx, input.session_uuid)
    return true
  })
  if (accepted) await context.cache.delete(sessionAggregateKey(input.session_uuid))
  else await refuse(context, input)
}

/** The mark is taken and the round is numbered by one statement, so that of many requests one wins. */
async function openRound(tx: Transaction, input: NextRound): Promise<number | null> {
  const [round] = await tx<{ id: number }[]>`
    WITH session AS (
      UPDATE sessions
      SET in_flight = true, round_count = round_count + 1,
          last_status = 'started', last_message = NULL, last_status_at = clock_timestamp()
      WHERE uuid = ${input.session_uuid} AND NOT in_flight AND last_status <> 'failed'
        AND NOT (is_blocked AND ${input.mode === 'apply'})
      RETURNING id, round_count
    ), round AS (
      INSERT INTO rounds (session_id, number, query, mode, is_partial)
      SELECT id, round_count, ${input.query}, ${input.mode}, ${input.is_partial} FROM session RETURNING id, session_id
    ), status AS (
      INSERT INTO statuses (session_id, round_id, status) SELECT session_id, id, 'started' FROM round
    )
    SELECT id FROM round`
  return round?.id ?? null
}

async function refuse(context: Pick<Context, 'sql' | 'log'>, { session_uuid: uuid, mode }: NextRound): Promise<void> {
  const [session] = await context.sql<{ in_flight: boolean; is_blocked: boolean }[]>`
    SELECT in_flight, is_blocked FROM sessions WHERE uuid = ${uuid}`
  if (mode === 'apply' && session?.is_blocked) throw conflict(`Session ${uuid} is blocked; apply is not allowed.`)
  const text = session?.in_flight
    ? `Session ${uuid} already has an operation in flight.`
    : `Session ${uuid} is finished and cannot be resumed.`
  context.log.info(`runner not started: ${text} (session ${uuid})`, { session_id: uuid })
}
