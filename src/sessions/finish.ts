import type { TerminalStatus, Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { endApply } from './applies.ts'
import { sessionAggregateKey } from './cache-keys.ts'
import { discardPin } from './pins/seal.ts'
import { appendStatus } from './status.ts'
import type { ClaimedRound } from './types.ts'

export interface RoundEnd {
  status: TerminalStatus
  message: string
  /** The whole conversation; replaces what is stored. Null leaves it as it is. */
  history: readonly Turn[] | null
  /** Head of the session branch; null keeps the one of the round before. */
  commit: string | null
  /** Plain JSON; what the run's meter counted. */
  usage: object | null
}

/**
 * Ends a round: terminal status, history and the release of the session's mark become visible
 * together, so that a request sent on sight of the status is accepted. Whatever became of an apply round,
 * nothing is pinned after it, and the next one of its project may begin.
 * Errors: `LeaseLost`.
 */
export async function finishRound(
  context: Pick<Context, 'sql' | 'cache' | 'queue'>,
  round: ClaimedRound,
  end: RoundEnd,
): Promise<void> {
  await context.sql.begin(async (tx) => {
    await appendStatus(tx, round, end.status, end.message)
    await tx`UPDATE sessions SET in_flight = false, last_commit = coalesce(${end.commit}, last_commit) WHERE id = ${round.session.id}`
    const usage = end.usage === null ? null : JSON.stringify(end.usage)
    await tx`UPDATE rounds SET finished_at = clock_timestamp(), lease_until = NULL, usage = ${usage}::jsonb WHERE id = ${round.id}`
    if (end.history) await saveHistory(tx, round.session.id, end.history)
    if (round.mode === 'apply') {
      await discardPin(tx, round)
      await endApply(context.queue, tx, round)
    }
  })
  await context.cache.delete(sessionAggregateKey(round.session.uuid))
}

async function saveHistory(tx: Transaction, sessionId: number, history: readonly Turn[]): Promise<void> {
  const payload = history.map((turn) => ({ user: storable(turn.user), assistant: storable(turn.assistant) }))
  await tx`UPDATE histories SET payload = ${JSON.stringify(payload)}::jsonb WHERE session_id = ${sessionId}`
}
