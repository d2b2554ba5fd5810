import { type Actor, recordAudit } from '../access/audit/record.ts'
import { conflict, sessionNotFound } from '../base/errors.ts'
import type { Mode } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { writeEnd } from './finish.ts'
import type { HeldRound } from './round.ts'
import { sessionAggregateKey } from './session-facts.ts'
import { cancelledMessage } from './wish.ts'

/** Channel of PostgreSQL's NOTIFY on which workers hear of wishes. The payload is the id of the round. */
export const CANCEL_CHANNEL = 'platform_cancel'

/**
 * Records the wish that the unfinished round of a session ends, and rings for the worker that runs it. A round that no
 * worker runs and that has submitted nothing to the iac service ends at once; a message of the queue that comes later
 * finds it finished. The first wish of a round stays: a further one changes nothing and is no error.
 * @param wish.by the e-mail or the name of the caller
 * @param wish.actor the caller, for the record; the entry of a first wish is written with it
 * @returns `ended` when the round has ended, `requested` when a worker will end it
 * Errors: 404 unknown session; 409 when no round runs, or when the round has begun to save its plan.
 */
export async function cancelRound(
  context: Pick<Context, 'sql' | 'cache' | 'queue'>,
  wish: { session_uuid: string; by: string; actor: Actor },
): Promise<'ended' | 'requested'> {
  const outcome = await context.sql.begin(async (tx) => {
    const session = await lockSession(tx, wish.session_uuid)
    const round = await recordWish(tx, session, storable(wish.by))
    if (round.is_first)
      await recordAudit(tx, {
        action: 'round_cancelled',
        actor: wish.actor,
        session_id: session.uuid,
        detail: { round: round.number },
      })
    await tx`SELECT pg_notify(${CANCEL_CHANNEL}, ${String(round.id)})`
    if (round.is_held || round.has_submitted) return 'requested'
    await endUnstarted(context, tx, session, round)
    return 'ended'
  })
  if (outcome === 'ended') await context.cache.delete(sessionAggregateKey(wish.session_uuid))
  return outcome
}

interface LockedSession {
  id: number
  uuid: string
  user_id: number
  fence: number
  workspace: HeldRound['session']['workspace']
}
interface WantedEnd {
  id: number
  number: number
  mode: Mode
  preview: boolean
  /** Whether nobody had wanted this before. */
  is_first: boolean
  cancelled_by: string
  /** Whether the lease of a worker is valid. */
  is_held: boolean
  /** Whether an attempt of the round gave the iac service a job, or was about to submit its apply. */
  has_submitted: boolean
}

/** Claims and ends of a round lock the session as well, so that of these and a wish one comes after the other. */
async function lockSession(tx: Transaction, uuid: string): Promise<LockedSession> {
  const [session] = await tx<LockedSession[]>`
    SELECT s.id, s.uuid, s.user_id, s.fence,
      json_build_object('uri', w.uri, 'branch', w.branch, 'root_path', w.root_path) AS workspace
    FROM sessions s JOIN workspaces w ON w.session_id = s.id WHERE s.uuid = ${uuid} FOR UPDATE OF s`
  if (!session) throw sessionNotFound(uuid)
  return session
}

async function recordWish(tx: Transaction, { id, uuid }: LockedSession, by: string): Promise<WantedEnd> {
  const [round] = await tx<WantedEnd[]>`
    UPDATE rounds
    SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
        cancelled_by = coalesce(cancelled_by, ${by})
    FROM (
      SELECT id, cancel_requested_at IS NULL AS is_first FROM rounds WHERE session_id = ${id} AND finished_at IS NULL
    ) before
    WHERE rounds.id = before.id AND finished_at IS NULL AND saving_at IS NULL
      AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = ${id} AND s.in_flight)
    RETURNING rounds.id, number, mode, preview, rounds.cancelled_by, before.is_first,
      NOT parked AND lease_until IS NOT NULL AND lease_until > clock_timestamp() AS is_held,
      jobs <> '{}' OR EXISTS (
        SELECT 1 FROM applies a WHERE a.round_id = rounds.id AND (a.intended_at IS NOT NULL OR a.result IS NOT NULL)
      ) AS has_submitted`
  if (round) return round
  const [saving] = await tx`SELECT 1 FROM rounds WHERE session_id = ${id} AND finished_at IS NULL`
  throw conflict(
    saving
      ? `The round of session ${uuid} seals its plan and ends now; it cannot be cancelled any more.`
      : `Session ${uuid} has no round that could be cancelled.`,
  )
}

/** Ends a round for which no worker is needed. A worker that held it before cannot write any more. */
async function endUnstarted(
  { queue }: Pick<Context, 'queue'>,
  tx: Transaction,
  session: LockedSession,
  { id, number, mode, preview, cancelled_by }: WantedEnd,
): Promise<void> {
  const fence = session.fence + 1
  await tx`UPDATE sessions SET fence = ${fence} WHERE id = ${session.id}`
  const end = { status: 'uncompleted', message: cancelledMessage(cancelled_by), commit: null, usage: null } as const
  await writeEnd(queue, tx, { id, number, mode, preview, fence, session }, { ...end, history: null, keeps_plan: true })
}
