import { platformFor, recordAudit } from '../access/audit/record.ts'
import { LeaseLost } from '../base/errors.ts'
import { delay } from '../base/http.ts'
import type { Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/sql.ts'
import { storableJson } from '../data/db/values.ts'
import { endSavedPlan } from '../saved-plans/saved-plan.ts'
import { type ClaimedRound, type HeldRound, sessionAggregateKey } from './round.ts'
import type { RoundResult } from './round-result.ts'
import { endRound, readCancelledBy, releaseProject, restoreLock, type WrittenEnd } from './transitions.ts'

export const cancelledMessage = (by: string): string => `Cancelled by ${by}.`

export interface RoundEnd extends Pick<WrittenEnd, 'status' | 'message' | 'commit'> {
  /** The whole conversation, which replaces the stored one. Null keeps the stored one. */
  history: readonly Turn[] | null
  /** Figures of the run's meter, as plain JSON. Null stores nothing. */
  usage: object | null
  /** Nothing is stored if it is absent or has no texts. */
  result?: RoundResult
  /** True for an apply that was cancelled before it submitted anything: the plan stays for another apply. */
  keeps_plan?: boolean
}

/**
 * Ends a round. The terminal status, the history and `in_flight = false` become visible in one transaction, so that a
 * client that sees the status can send the next request at once. After an apply round, successful or not, the session
 * has no current saved plan, and the next apply of its project may begin. Only a completed round makes its commit the
 * reviewed one: a declined request may find a commit that someone else pushed. A preview leaves both commits unchanged,
 * since it reviews nothing. The end of an apply is added to the audit record. A round that has been cancelled meanwhile
 * ends cancelled, whatever `end` says.
 * @returns the end as it was written
 * Throws `LeaseLost`.
 */
export async function finishRound(
  context: Pick<Context, 'sql' | 'cache' | 'queue'>,
  round: ClaimedRound,
  end: RoundEnd,
): Promise<RoundEnd> {
  const written = await context.sql.begin(async (tx) => {
    // A cancellation waits for this lock: afterwards it finds no running round.
    await tx`SELECT id FROM sessions WHERE id = ${round.session.id} FOR UPDATE`
    const by = await readCancelledBy(tx, round.id)
    const own = round.preview ? { ...end, commit: null } : end
    const present: RoundEnd =
      by === null ? own : { ...own, status: 'uncompleted', message: cancelledMessage(by), commit: null }
    await writeEnd(context.queue, tx, round, present)
    if (by !== null) await restoreLock(tx, round)
    return present
  })
  await context.cache.delete(sessionAggregateKey(round.session.uuid))
  return written
}

const PAUSES_MS = [250, 1_000, 2_000]

/**
 * Ends a round like `finishRound`. If the database cannot be reached, the write is tried four times within 3.25 s, so
 * that a short outage does not lose the result.
 * @param lost fires when the lease is lost
 * Throws `LeaseLost`, also when the lease is lost during a pause; the last error of the database.
 */
export async function finishDespiteOutages(
  context: Pick<Context, 'sql' | 'cache' | 'queue' | 'log'>,
  round: ClaimedRound,
  end: RoundEnd,
  lost: AbortSignal,
): Promise<RoundEnd> {
  for (const pause of PAUSES_MS) {
    try {
      return await finishRound(context, round, end)
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      context.log.warn('the end of the round could not be written yet', { error })
      await delay(pause, lost).catch(() => {
        throw new LeaseLost()
      })
    }
  }
  return await finishRound(context, round, end)
}

/** Writes all changes of a round's end in a transaction that has locked the session. Throws `LeaseLost`. */
export async function writeEnd(
  queue: Context['queue'],
  tx: Transaction,
  round: HeldRound,
  end: RoundEnd,
): Promise<void> {
  const { status, message, commit } = end
  const usage = end.usage === null ? null : JSON.stringify(end.usage)
  await endRound(tx, round, { status, message, commit, usage, result: writeResult(end.result) })
  if (end.history)
    await tx`
      UPDATE histories SET payload = ${storableJson(end.history)}::jsonb WHERE session_id = ${round.session.id}`
  if (round.mode !== 'apply') return
  await recordAudit(tx, {
    action: 'apply_ended',
    actor: platformFor(round.session.user_id),
    session_id: round.session.uuid,
    detail: { mode: round.mode, round: round.number, status, repository: round.session.workspace.uri },
  })
  if (!end.keeps_plan) await endSavedPlan(tx, round)
  await tx`UPDATE applies SET result = NULL WHERE round_id = ${round.id}`
  await releaseProject(queue, tx, round)
}

/** Returns the result as JSON text; null when it is empty. */
function writeResult(result?: RoundResult): string | null {
  return !result || Object.values(result).every(isEmpty) ? null : storableJson(result)
}

const isEmpty = (part: RoundResult[keyof RoundResult]): boolean =>
  typeof part === 'string' || Array.isArray(part) ? part.length === 0 : part === undefined
