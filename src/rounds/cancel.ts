import { type Actor, recordAudit } from '../access/audit/record.ts'
import { sessionNotFound } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Context } from '../context.ts'
import type { Sql, Transaction } from '../data/db/sql.ts'
import { cancelledMessage, writeEnd } from './finish.ts'
import { type HeldRound, sessionAggregateKey } from './round.ts'
import { readCancelledBy, requestCancel, withdrawRound } from './transitions.ts'

/** The NOTIFY channel of cancellations. The payload is the id of the round. */
export const CANCEL_CHANNEL = 'platform_cancel'

/**
 * Cancels the unfinished round of a session, and notifies the worker that runs it. A round that no worker runs and that
 * has submitted nothing to the iac service ends at once; a later queue message finds it finished. Only the first
 * cancellation of a round counts: further ones change nothing and are no error.
 * @param request.by the e-mail or the name of the caller
 * @param request.actor the caller, for the audit entry of a first cancellation
 * @returns `ended` when the round has ended, `requested` when a worker will end it
 * Throws 404 for an unknown session; 409 when no round runs, or when the round has begun to save its plan.
 */
export async function cancelRound(
  context: Pick<Context, 'sql' | 'cache' | 'queue'>,
  request: { session_uuid: string; by: string; actor: Actor },
): Promise<'ended' | 'requested'> {
  const outcome = await context.sql.begin(async (tx) => {
    const session = await lockSession(tx, request.session_uuid)
    const { is_first, cancelled_by, ...round } = await requestCancel(tx, session, request.by)
    if (is_first)
      await recordAudit(tx, {
        action: 'round_cancelled',
        actor: request.actor,
        session_id: session.uuid,
        detail: { round: round.number },
      })
    await tx`SELECT pg_notify(${CANCEL_CHANNEL}, ${String(round.id)})`
    const fence = await withdrawRound(tx, round.id)
    if (fence === null) return 'requested'
    const end = { status: 'uncompleted', message: cancelledMessage(cancelled_by), commit: null, usage: null } as const
    await writeEnd(context.queue, tx, { ...round, fence, session }, { ...end, history: null, keeps_plan: true })
    return 'ended'
  })
  if (outcome === 'ended') await context.cache.delete(sessionAggregateKey(request.session_uuid))
  return outcome
}

/** Locks the session, as claims and ends of a round do, so that these and cancellations are serialized. */
async function lockSession(tx: Transaction, uuid: string): Promise<HeldRound['session']> {
  const [session] = await tx<HeldRound['session'][]>`
    SELECT s.id, s.uuid, s.user_id,
      json_build_object('uri', w.uri, 'branch', w.branch, 'root_path', w.root_path) AS workspace
    FROM sessions s JOIN workspaces w ON w.session_id = s.id WHERE s.uuid = ${uuid} FOR UPDATE OF s`
  if (!session) throw sessionNotFound(uuid)
  return session
}

/** Receives cancellations of rounds over the LISTEN connection of the process. */
export type CancelWatch = Awaited<ReturnType<typeof startCancelWatch>>

/** Subscribes this process. Throws when the database cannot be reached. */
export async function startCancelWatch(sql: Sql, log: Logger) {
  const watched = new Map<number, Set<(by: string) => void>>()
  const look = async (roundId: number) => {
    if (!watched.has(roundId)) return
    try {
      const by = await readCancelledBy(sql, roundId)
      if (by !== null) for (const onCancel of watched.get(roundId) ?? []) onCancel(by)
    } catch (error) {
      log.warn('a cancellation could not be read; the next extension of the lease reads it again', {
        round_id: roundId,
        error,
      })
    }
  }
  const subscription = await sql.listen(
    CANCEL_CHANNEL,
    (payload) => void look(Number(payload)),
    () => {
      for (const roundId of watched.keys()) void look(roundId)
    },
  )
  return {
    /** Calls `onCancel` at each notification until unsubscribed. Extensions of the lease find lost notifications. */
    watch: (roundId: number, onCancel: (by: string) => void) => {
      const listeners = watched.get(roundId) ?? new Set()
      watched.set(roundId, listeners.add(onCancel))
      return () => {
        listeners.delete(onCancel)
        if (listeners.size === 0 && watched.get(roundId) === listeners) watched.delete(roundId)
      }
    },
    close: async () => {
      watched.clear()
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
  }
}
