import type { Logger } from '../base/log.ts'
import { endsWithin } from '../base/time.ts'
import type { Db, Sql, Transaction } from './db/sql.ts'

/*
 * The queue of rounds: one row in `queued_rounds` from the acceptance of a round to its end. It only says which round is
 * next; the lease of the round decides who runs it, so a round may be offered twice without harm.
 *
 * Users take turns. A round gets the turn after that of its user's round before, but at least the present one, which is
 * the highest that was taken. So the first round of a user comes before all but the next one of a user who has queued
 * many, and nobody gathers claims by sending nothing (start-time fair queueing).
 */

/** The abort reason of a run whose worker stops. The round does not fail; it returns to the queue. */
export const STOPPING = 'stopping'

/** The NOTIFY channel of rounds that wait. The payload is the id of the round. */
const ROUND_CHANNEL = 'platform_rounds'

const SWEEP_MS = 1_000
/** Time between two looks for rounds that are not in the queue, as a process of an earlier version accepts them. */
const SEARCH_MS = 60_000
/** Seconds that a worker has to claim a round that it took from the queue. */
const CLAIM_S = 6

/** The sending side of the queue, the only one that the core needs. */
export interface RoundQueue {
  /** Enqueues a new round, or one that is to run again, in the caller's transaction, so that both happen or neither. */
  enqueue(tx: Transaction, roundId: number): Promise<void>
  /** True if the queue exists; cheap enough for the readiness check. */
  healthy(): Promise<boolean>
}

export const createSendingQueue = (sql: Sql): RoundQueue => ({
  enqueue: insertRound,
  healthy: async () => {
    const [row] = await sql<{ is_there: boolean }[]>`SELECT to_regclass('queued_rounds') IS NOT NULL AS is_there`
    return row?.is_there ?? false
  },
})

/**
 * Starts the working half of the queue. It calls `handle` for each waiting round, at most `concurrency` concurrently,
 * and requeues every second the rounds whose worker died.
 * @param options.beforeLook awaited before each look for such rounds
 * @param options.handle runs a round; if it rejects, the round is offered again as soon as no lease holds it. Its
 * signal fires with the reason `stopping` when this worker stops
 */
export async function startWorkingQueue(
  sql: Sql,
  log: Logger,
  options: {
    concurrency: number
    handle: (roundId: number, signal: AbortSignal) => Promise<void>
    beforeLook?: () => Promise<void>
  },
) {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let closing = false
  let taking = false
  let taken = Promise.resolve()
  let rung = false

  const run = (roundId: number) => {
    const ended = options
      .handle(roundId, stopping.signal)
      .catch((error) => log.warn('the queue offers a round again', { round_id: roundId, error }))
      .finally(() => {
        running.delete(ended)
        fill()
      })
    running.add(ended)
  }
  /** Takes rounds while there is room, one after the other, so that of several workers none takes all of them. */
  const takeRounds = async () => {
    taking = true
    try {
      while (rung && !closing && running.size < options.concurrency) {
        rung = false
        const roundId = await takeRound(sql)
        if (roundId === null) continue
        rung = true
        if (closing) await putBack(sql, roundId)
        else run(roundId)
      }
    } catch (error) {
      log.warn('no round could be taken from the queue', { error })
    } finally {
      taking = false
    }
  }
  const fill = () => {
    rung = true
    if (!taking) taken = takeRounds()
  }

  let searched = Number.NEGATIVE_INFINITY
  const look = async () => {
    await options.beforeLook?.()
    const found = await requeueAbandoned(sql)
    if (performance.now() - searched > SEARCH_MS) {
      searched = performance.now()
      found.push(...(await insertMissing(sql)))
    }
    for (const { round_id } of found) log.info('a round without a worker is queued again', { round_id })
  }
  const sweeper = setInterval(() => {
    look()
      .catch((error) => log.warn('the look for interrupted rounds failed', { error }))
      .finally(fill)
  }, SWEEP_MS)
  const subscription = await sql.listen(ROUND_CHANNEL, fill, fill).catch((error: unknown) => {
    clearInterval(sweeper)
    throw error
  })
  return {
    /** Accepts no more rounds and aborts the running ones after `finishMs`; they have `handBackMs` to be requeued. */
    stop: async (limits: { finishMs: number; handBackMs: number }) => {
      closing = true
      clearInterval(sweeper)
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
      await taken
      await endsWithin(limits.finishMs, Promise.allSettled(running))
      stopping.abort(STOPPING)
      await endsWithin(limits.handBackMs, Promise.allSettled(running))
    },
  }
}

/** Queues a round and wakes the workers. A round that is in the queue already waits again, before those not started. */
async function insertRound(tx: Transaction, roundId: number): Promise<void> {
  await tx`
    WITH again AS (
      UPDATE queued_rounds SET turn = CASE WHEN taken_at IS NULL THEN turn ELSE 0 END, taken_at = NULL
      WHERE round_id = ${roundId} RETURNING round_id
    ), mine AS (
      INSERT INTO user_turns AS before (user_id, turn)
      SELECT s.user_id, p.turn FROM rounds r JOIN sessions s ON s.id = r.session_id CROSS JOIN present_turn p
      WHERE r.id = ${roundId} AND NOT EXISTS (SELECT 1 FROM again)
      ON CONFLICT (user_id) DO UPDATE SET turn = greatest(before.turn + 1, excluded.turn)
      RETURNING turn
    ), new AS (
      INSERT INTO queued_rounds (round_id, turn) SELECT ${roundId}, turn FROM mine
    )
    SELECT pg_notify(${ROUND_CHANNEL}, ${String(roundId)})`
}

/** Takes the waiting round with the lowest turn; null if none waits. No two workers get the same. */
async function takeRound(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ round_id: number }[]>`
    WITH next AS (
      SELECT round_id FROM queued_rounds WHERE taken_at IS NULL ORDER BY turn, round_id LIMIT 1 FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE queued_rounds SET taken_at = clock_timestamp() FROM next
      WHERE queued_rounds.round_id = next.round_id RETURNING queued_rounds.round_id, turn
    ), moved AS (
      UPDATE present_turn SET turn = taken.turn FROM taken WHERE present_turn.turn < taken.turn
    )
    SELECT round_id FROM taken`
  return row?.round_id ?? null
}

async function putBack(sql: Sql, roundId: number): Promise<void> {
  await sql`UPDATE queued_rounds SET taken_at = NULL WHERE round_id = ${roundId}`
}

/**
 * Lets taken rounds wait again that no worker holds: whose lease has run out, or that were not claimed in time. A time
 * ahead is from before the clock of the database went back. Rounds that have ended leave the queue with the same
 * statement, because every idle worker sends it each second.
 */
const requeueAbandoned = async (sql: Sql): Promise<{ round_id: number }[]> => [
  ...(await sql<{ round_id: number }[]>`
    WITH ended AS (
      DELETE FROM queued_rounds WHERE round_id IN (
        SELECT q.round_id FROM queued_rounds q JOIN rounds r ON r.id = q.round_id
        WHERE q.taken_at IS NOT NULL AND r.finished_at IS NOT NULL FOR UPDATE OF q SKIP LOCKED)
    )
    UPDATE queued_rounds SET taken_at = NULL, turn = 0
    WHERE round_id IN (
      SELECT q.round_id FROM queued_rounds q JOIN rounds r ON r.id = q.round_id
      WHERE q.taken_at IS NOT NULL AND r.finished_at IS NULL AND CASE WHEN r.lease_until IS NULL
        THEN q.taken_at NOT BETWEEN clock_timestamp() - make_interval(secs => ${CLAIM_S}) AND clock_timestamp() + interval '1 minute'
        ELSE r.lease_until < clock_timestamp() END
      FOR UPDATE OF q SKIP LOCKED)
    RETURNING round_id`),
]

/** Queues unfinished rounds that no worker holds and that are not in the queue, before those that are. */
const insertMissing = async (sql: Db): Promise<{ round_id: number }[]> => [
  ...(await sql<{ round_id: number }[]>`
    INSERT INTO queued_rounds (round_id, turn)
    SELECT r.id, 0 FROM rounds r
    WHERE r.finished_at IS NULL
      AND coalesce(r.lease_until, r.created_at + make_interval(secs => ${CLAIM_S})) < clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM queued_rounds q WHERE q.round_id = r.id)
    ON CONFLICT (round_id) DO NOTHING RETURNING round_id`),
]
