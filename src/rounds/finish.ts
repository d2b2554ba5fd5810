import { auditInsert, platformFor } from '../access/audit/record.ts'
import type { TerminalStatus, Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Query, Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { endSavedPlan } from '../saved-plans/saved-plan.ts'
import { endApply } from './applies.ts'
import type { ClaimedRound, HeldRound } from './round.ts'
import type { RoundResult } from './round-result.ts'
import { sessionAggregateKey } from './session-facts.ts'
import { appendStatus } from './status.ts'
import { cancelledMessage, readWish } from './wish.ts'

export interface RoundEnd {
  status: TerminalStatus
  message: string
  /** The whole conversation, which replaces the stored one. Null keeps the stored one. */
  history: readonly Turn[] | null
  /** Head of the session branch. Null keeps the head of the round before. */
  commit: string | null
  /** What the run's meter counted, as plain JSON. Null stores nothing. */
  usage: object | null
  /** What the round built; absent or without any words, nothing is stored. */
  result?: RoundResult
  /** Set by an apply that was cancelled before it submitted anything: the plan stays for another apply. */
  keeps_plan?: boolean
}

/**
 * Ends a round. The terminal status, the history and `in_flight = false` become visible in one transaction, so that
 * a client that sees the status and sends the next request at once is accepted. After an apply round, successful or
 * not, the session has no current saved plan, and the next apply of its project may begin. Only a round that
 * completed makes its commit the reviewed one: a declined request may find a commit that somebody else has pushed.
 * A preview leaves both commits as they are, since it has reviewed nothing. The end of an apply is entered in the record
 * of who did what. A round that somebody has cancelled by now ends cancelled, whatever `end` says.
 * @returns the end as it was written
 * Errors: `LeaseLost`.
 */
export async function finishRound(
  context: Pick<Context, 'sql' | 'cache' | 'queue'>,
  round: ClaimedRound,
  end: RoundEnd,
): Promise<RoundEnd> {
  const written = await context.sql.begin(async (tx) => {
    // A wish waits for this lock: when it comes afterwards, it finds no round that runs.
    await tx`SELECT id FROM sessions WHERE id = ${round.session.id} FOR UPDATE`
    const by = await readWish(tx, round.id)
    const own = round.preview ? { ...end, commit: null } : end
    const present = by === null ? own : asCancelled(own, by)
    await writeEnd(context.queue, tx, round, present)
    if (by !== null) await restoreLock(tx, round)
    return present
  })
  await context.cache.delete(sessionAggregateKey(round.session.uuid))
  return written
}

const asCancelled = (end: RoundEnd, by: string): RoundEnd => ({
  ...end,
  status: 'uncompleted',
  message: cancelledMessage(by),
  commit: null,
})

/** Gives the session the lock that it had before a cancelled round decided on it. */
async function restoreLock(tx: Transaction, round: ClaimedRound): Promise<void> {
  const entry = {
    action: tx`CASE WHEN is_blocked THEN 'session_locked' ELSE 'session_unlocked' END`,
    actor: platformFor(round.session.user_id),
    session_id: round.session.uuid,
    detail: { round: round.number },
  }
  await tx`
    WITH restored AS (
      UPDATE sessions SET is_blocked = lock_before FROM rounds
      WHERE sessions.id = ${round.session.id} AND rounds.id = ${round.id} AND is_blocked <> lock_before
      RETURNING is_blocked
    )
    ${auditInsert(tx, entry, tx`FROM restored`)}`
}

/**
 * Writes all that the end of a round changes, inside the caller's transaction, which has locked the session.
 * Errors: `LeaseLost`.
 */
export async function writeEnd(
  queue: Context['queue'],
  tx: Transaction,
  round: HeldRound,
  end: RoundEnd,
): Promise<void> {
  await appendStatus(tx, round, end.status, end.message)
  await tx`
    UPDATE sessions SET in_flight = false, last_commit = coalesce(${end.commit}, last_commit),
      reviewed_commit = CASE WHEN ${end.status === 'completed' && !round.preview}
        THEN coalesce(${end.commit}, nullif(reviewed_commit, '')) ELSE reviewed_commit END
    WHERE id = ${round.session.id}`
  const usage = end.usage === null ? null : JSON.stringify(end.usage)
  await tx`
    ${round.mode === 'apply' ? auditEnd(tx, round, end) : tx``}
    UPDATE rounds SET finished_at = clock_timestamp(), lease_until = NULL, usage = ${usage}::jsonb,
      result = ${writeResult(end.result)}::jsonb
    WHERE id = ${round.id}`
  if (end.history) await saveHistory(tx, round.session.id, end.history)
  if (round.mode === 'apply') {
    if (!end.keeps_plan) await endSavedPlan(tx, round)
    await endApply(queue, tx, round)
  }
}

/** The entry of an apply that ended, as the first part of another statement. */
const auditEnd = (tx: Transaction, round: HeldRound, { status }: RoundEnd): Query => {
  const { session, number, mode } = round
  const entry = {
    action: 'apply_ended',
    actor: platformFor(session.user_id),
    session_id: session.uuid,
    detail: { mode, round: number, status, repository: session.workspace.uri },
  } as const
  return tx`WITH audit AS (${auditInsert(tx, entry)})`
}

/** The result as JSON text; null when it says nothing. */
function writeResult(result?: RoundResult): string | null {
  if (!result || Object.values(result).every(isEmpty)) return null
  return JSON.stringify(result, (_, value) => (typeof value === 'string' ? storable(value) : value))
}

const isEmpty = (part: RoundResult[keyof RoundResult]): boolean =>
  typeof part === 'string' || Array.isArray(part) ? part.length === 0 : part === undefined

async function saveHistory(tx: Transaction, sessionId: number, history: readonly Turn[]): Promise<void> {
  const payload = history.map((turn) => ({ user: storable(turn.user), assistant: storable(turn.assistant) }))
  await tx`UPDATE histories SET payload = ${JSON.stringify(payload)}::jsonb WHERE session_id = ${sessionId}`
}
