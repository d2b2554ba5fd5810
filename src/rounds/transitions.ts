import { type Actor, auditInsert, platformFor } from '../access/audit/record.ts'
import { conflict, forbidden, LeaseLost, PlatformError, RoundCancelled } from '../base/errors.ts'
import { isUuid } from '../base/text.ts'
import type { Cloud, Operation, StateChoice, Status, TerminalStatus } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Db, Query, Sql, Transaction } from '../data/db/sql.ts'
import { storable, storableJson } from '../data/db/values.ts'
import { type NewSavedPlan, replaceSavedPlan } from '../saved-plans/saved-plan.ts'
import {
  assertHeld,
  type ClaimedRound,
  type HeldLease,
  type HeldRound,
  heldSessionQuery,
  type LockReason,
  type RoundRequest,
  sessionAggregateKey,
} from './round.ts'
import { transition } from './state-machine.ts'

/*
 * All changes of statuses, locks and claims of rounds. No other file writes these columns, which a test checks.
 * `docs/rounds.md` has the table of transitions, generated from the rows below.
 *
 * Every transaction locks the session before the round, so that no two of these can deadlock.
 */

/** Seconds for which a claim is valid without extension. Then another worker may claim the round. */
export const LEASE_SECONDS = 6

/** The NOTIFY channel of statuses. The payload is the uuid of the session whose status changed. */
export const STATUS_CHANNEL = 'platform_status'

/** The states in which a worker holds a round, until another one claims it. */
const stay = { running: 'running', interrupted: 'interrupted', saving: 'saving', cancelling: 'cancelling' } as const

interface NewSession
  extends Required<Pick<RoundRequest, 'query' | 'is_partial' | 'preview'>>,
    Pick<RoundRequest, 'state'> {
  user_id: number
  operation: Operation
  provider: Cloud
  repo_uri: string
}

/** Creates a session with its first round. `besides`: further parts of the statement, which may reference `session`. */
export const openSession = transition(
  { moves: { none: 'queued' }, status: 'started', caller: 'core, for a request without a session' },
  async (tx: Transaction, input: NewSession, besides: Query): Promise<{ uuid: string; round_id: number }> => {
    const { operation, query } = input
    const [row] = await tx<{ uuid: string; round_id: number }[]>`
      WITH session AS (
        INSERT INTO sessions (user_id, operation, in_flight, round_count, provider, last_mode, repository_id)
        VALUES (${input.user_id}, ${operation}, true, 1, ${input.provider}, ${operation},
                md5(lower(${input.repo_uri}))::uuid) RETURNING id, uuid
      ), round AS (
        INSERT INTO rounds (session_id, number, query, mode, is_partial, preview, state_choice)
        SELECT id, 1, ${query}, ${operation}, ${input.is_partial}, ${input.preview}, ${input.state ?? null}::text
        FROM session RETURNING id
      ), status AS (
        INSERT INTO statuses (session_id, round_id, status) SELECT session.id, round.id, 'started' FROM session, round
      ), ${besides}
      SELECT session.uuid, round.id AS round_id, pg_notify(${STATUS_CHANNEL}, session.uuid::text) FROM session, round`
    if (!row) throw new Error('the session was not inserted')
    return row
  },
)

/**
 * Opens the next round and returns its id, or null when the session accepts none. Of several simultaneous requests
 * exactly one opens a round. `besides`: a further part of the statement, which may reference `session`.
 */
export const openRound = transition(
  {
    moves: { ended: 'queued' },
    status: 'started',
    guard: 'the session is not locked, or the round is no apply',
    caller: 'core, for a request that names a session',
  },
  async (tx: Transaction, input: RoundRequest & { session_uuid: string }, besides: Query): Promise<number | null> => {
    const { mode, is_partial, preview = false, resource_ids = null, state = null } = input
    const [round] = await tx<{ id: number }[]>`
      WITH session AS (
        UPDATE sessions
        SET in_flight = true, round_count = round_count + 1, last_mode = ${mode},
            last_status = 'started', last_message = NULL, last_status_at = clock_timestamp()
        WHERE uuid = ${input.session_uuid} AND NOT in_flight AND last_status <> 'failed'
          AND NOT (is_blocked AND ${mode === 'apply'})
        RETURNING id, uuid, user_id, round_count
      ), round AS (
        INSERT INTO rounds (session_id, number, query, mode, is_partial, preview, resource_ids, state_choice)
        SELECT id, round_count, ${input.query}, ${mode}, ${is_partial}, ${preview},
               ${resource_ids && [...resource_ids]}::text[], ${state}::text
        FROM session RETURNING id, session_id
      ), status AS (
        INSERT INTO statuses (session_id, round_id, status) SELECT session_id, id, 'started' FROM round
      ), ${besides}
      SELECT round.id, pg_notify(${STATUS_CHANNEL}, session.uuid::text) FROM session, round`
    return round?.id ?? null
  },
)

export interface RoundClaim extends Pick<ClaimedRound, 'fence' | 'number' | 'mode' | 'query' | 'is_partial' | 'jobs'> {
  session_id: number
  last_commit: string | null
  preview: boolean
  resource_ids: string[] | null
  state: StateChoice | null
  attempts: number
  handed_back: number
  /** True if the round waited for another apply until now. */
  was_parked: boolean
  cancelled_by: string | null
}

/** Claims a round for a worker; null when the round is finished or another worker's lease is valid. */
export const claimRound = transition(
  {
    moves: { queued: 'running', interrupted: 'running', stopping: 'cancelling' },
    fence: 'raised',
    guard: 'no lease is valid',
    caller: 'worker, for each round that it takes from the queue',
  },
  async (tx: Transaction, roundId: number): Promise<RoundClaim | null> => {
    const [session] = await tx<Pick<RoundClaim, 'session_id' | 'last_commit' | 'fence'>[]>`
      SELECT id AS session_id, last_commit, fence + 1 AS fence FROM sessions
      WHERE id = (SELECT session_id FROM rounds WHERE id = ${roundId}) AND in_flight FOR UPDATE`
    if (!session) return null
    const [round] = await tx<Omit<RoundClaim, keyof typeof session>[]>`
      UPDATE rounds
      SET attempts = rounds.attempts + 1, parked = false, saving_at = NULL,
          lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      FROM (SELECT id, parked FROM rounds WHERE id = ${roundId} FOR UPDATE) before
      WHERE rounds.id = before.id AND finished_at IS NULL AND (lease_until IS NULL OR lease_until < clock_timestamp())
      RETURNING number, mode, query, is_partial, preview, resource_ids, state_choice AS state, jobs, attempts, handed_back, cancelled_by,
        before.parked AS was_parked`
    if (!round) return null
    await tx`UPDATE sessions SET fence = ${session.fence} WHERE id = ${session.session_id}`
    return { ...session, ...round }
  },
)

/**
 * Extends the lease of a round to `LEASE_SECONDS` from now.
 * @returns the user who has cancelled the round, or null
 * Throws `LeaseLost`.
 */
export const extendLease = transition(
  { moves: { ...stay, interrupted: 'running' }, fence: 'checked', caller: 'worker, every 1.5 s while the round runs' },
  async (sql: Db, round: HeldLease): Promise<string | null> => {
    const rows = await sql<{ cancelled_by: string | null }[]>`
      UPDATE rounds SET lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      WHERE id = ${round.id} AND EXISTS (
        SELECT 1 FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight)
      RETURNING cancelled_by`
    assertHeld(rows)
    return rows[0]?.cancelled_by ?? null
  },
)

/**
 * Shortens leases that end later than any that could be given now, because the clock of the database went back since:
 * those of workers to `LEASE_SECONDS`, so that a worker that lives keeps its round, and those of parked rounds as if they
 * began to wait now.
 */
export const shortenLeases = transition(
  {
    moves: { running: 'running', saving: 'saving', parked: 'parked', cancelling: 'cancelling' },
    guard: 'the clock of the database went back by more than a minute since',
    caller: 'worker, every second',
  },
  async (sql: Db): Promise<void> => {
    const limit = sql`clock_timestamp() + interval '1 minute'`
    await sql`
      WITH late AS (
        SELECT round_id, waiting_since - clock_timestamp() AS jump FROM applies WHERE waiting_since > ${limit} FOR UPDATE
      ), moved AS (
        UPDATE applies SET waiting_since = waiting_since - jump FROM late WHERE applies.round_id = late.round_id
      )
      UPDATE rounds SET lease_until = CASE
        WHEN parked THEN lease_until - (SELECT jump FROM late WHERE round_id = rounds.id)
        ELSE clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}) END
      WHERE finished_at IS NULL AND lease_until > ${limit} AND (NOT parked OR id IN (SELECT round_id FROM late))`
  },
)

/** Writes a status of a run, and notifies all processes that listen for changes of its session. Throws `LeaseLost`. */
export const appendStatus = transition(
  { moves: stay, fence: 'checked', status: 'that of the step', caller: 'worker, at each step of a round' },
  async (
    sql: Db,
    round: Pick<HeldRound, 'id' | 'fence' | 'session'>,
    status: Status,
    message: string | null,
  ): Promise<void> => {
    const text = storable(message)
    const rows = await sql`
      WITH session AS (
        UPDATE sessions SET last_status = ${status}, last_message = ${text}, last_status_at = clock_timestamp()
        WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight
        RETURNING id, uuid
      ), written AS (
        INSERT INTO statuses (session_id, round_id, status, message)
        SELECT id, ${round.id}, ${status}, ${text} FROM session
      )
      SELECT pg_notify(${STATUS_CHANNEL}, uuid::text) FROM session`
    assertHeld(rows)
  },
)

/** Raises the fence of a session on behalf of the worker that holds its round. Throws `LeaseLost`. */
async function giveUpFence(tx: Transaction, round: ClaimedRound): Promise<void> {
  assertHeld(
    await tx`
    UPDATE sessions SET fence = fence + 1
    WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`,
  )
}

/** Requeues the round of a stopping worker, which does not count as an interruption. Throws `LeaseLost`. */
export const releaseRound = transition(
  {
    moves: { running: 'queued', interrupted: 'queued', saving: 'queued', cancelling: 'stopping' },
    fence: 'checked, raised',
    caller: 'worker that stops',
  },
  async ({ sql, queue }: Pick<Context, 'sql' | 'queue'>, round: ClaimedRound): Promise<void> => {
    await sql.begin(async (tx) => {
      await giveUpFence(tx, round)
      await tx`UPDATE rounds SET lease_until = NULL, handed_back = handed_back + 1 WHERE id = ${round.id}`
      await queue.enqueue(tx, round.id)
    })
  },
)

/**
 * Makes this round the only one that may change a project, unless another unfinished round already is.
 * @returns null when this round now holds the project, else the uuid of the session whose round holds it
 * Throws `LeaseLost`.
 */
export const claimProject = transition(
  {
    moves: stay,
    fence: 'checked',
    lock: 'claims the project',
    guard: 'no other unfinished round holds the project',
    caller: 'worker, before it applies or adopts a state',
  },
  async (sql: Sql, round: ClaimedRound, projectId: string): Promise<string | null> => {
    // If the holder ends between the two statements, the second one finds none and the first is retried.
    for (;;) {
      const rows = await sql<{ claimed: boolean }[]>`
        WITH session AS (${heldSessionQuery(sql, round)}),
        claimed AS (
          INSERT INTO project_applies (project_id, round_id) SELECT ${projectId}, ${round.id} FROM session
          ON CONFLICT (project_id) DO UPDATE SET round_id = excluded.round_id
            WHERE project_applies.round_id = excluded.round_id
               OR EXISTS (SELECT 1 FROM rounds r WHERE r.id = project_applies.round_id AND r.finished_at IS NOT NULL)
          RETURNING round_id
        ), no_longer_waiting AS (
          UPDATE applies SET waiting_since = NULL FROM claimed WHERE applies.round_id = claimed.round_id
        )
        SELECT EXISTS (SELECT 1 FROM claimed) AS claimed FROM session`
      assertHeld(rows)
      if (rows[0]?.claimed) return null
      const [holder] = await sql<{ uuid: string }[]>`
        SELECT s.uuid FROM project_applies p
        JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
        WHERE p.project_id = ${projectId} AND r.finished_at IS NULL`
      if (holder) return holder.uuid
    }
  },
)

/**
 * Parks a round until the apply that holds its project ends, so that it does not occupy a worker while it waits. A
 * worker claims it again at that end, at the latest `limitS` seconds after it began to wait. Returns false, and changes
 * nothing, if the project has become free meanwhile. Throws `LeaseLost`; `RoundCancelled`.
 */
export const parkRound = transition(
  {
    moves: { running: 'parked', interrupted: 'parked' },
    fence: 'checked, raised',
    guard: 'another unfinished round holds the project',
    caller: 'worker, when another round applies to the same project',
  },
  async (
    { sql }: Pick<Context, 'sql'>,
    round: ClaimedRound,
    wait: { project_id: string; limitS: number },
  ): Promise<boolean> =>
    await sql.begin(async (tx) => {
      // The end of the holder deletes this row. The lock makes that deletion wait until this round is parked; if the
      // deletion came first, no row is found.
      const [holder] = await tx`
        SELECT p.round_id FROM project_applies p JOIN rounds r ON r.id = p.round_id
        WHERE p.project_id = ${wait.project_id} AND p.round_id <> ${round.id} AND r.finished_at IS NULL
        FOR SHARE OF p`
      if (!holder) return false
      await giveUpFence(tx, round)
      await assertNotCancelled(tx, round.id)
      const rows = await tx`
        WITH waiting AS (
          INSERT INTO applies (round_id, project_id, waiting_since)
          VALUES (${round.id}, ${wait.project_id}, clock_timestamp())
          ON CONFLICT (round_id) DO UPDATE SET waiting_since = coalesce(applies.waiting_since, excluded.waiting_since)
          RETURNING waiting_since
        )
        UPDATE rounds
        SET parked = true, handed_back = handed_back + 1,
            lease_until = waiting_since + make_interval(secs => ${wait.limitS})
        FROM waiting WHERE rounds.id = ${round.id} AND saving_at IS NULL RETURNING rounds.id`
      assertHeld(rows)
      return true
    }),
)

/**
 * Releases the project that a round holds, and queues the rounds that wait for it. The first of them to run claims the
 * project and the others wait again. Runs in the transaction that ends the round.
 */
export const releaseProject = transition(
  {
    moves: { parked: 'queued' },
    lock: 'releases the project',
    caller: 'the end of the apply, or of the adoption of a state, that holds the project of the parked round',
  },
  async (queue: Pick<Context['queue'], 'enqueue'>, tx: Transaction, holder: Pick<HeldRound, 'id'>): Promise<void> => {
    const held = await tx<{ project_id: string }[]>`
      DELETE FROM project_applies WHERE round_id = ${holder.id} RETURNING project_id`
    // This has to be a second statement: only a statement after the deletion, which waits for the lock of `parkRound`,
    // sees the round that was parked at that moment.
    for (const { project_id } of held) {
      const rounds = await tx<{ id: number }[]>`
        UPDATE rounds SET lease_until = NULL FROM applies
        WHERE applies.project_id = ${project_id} AND applies.waiting_since IS NOT NULL AND rounds.id = applies.round_id
          AND rounds.parked AND rounds.finished_at IS NULL
        RETURNING rounds.id`
      for (const { id } of rounds) await queue.enqueue(tx, id)
    }
  },
)

/**
 * Saves the plan of a round in place of the session's earlier one. After that the round cannot be cancelled, because a
 * cancelled round must leave the earlier plan unchanged. `plan` is null when the plan cannot be saved: the session then
 * has no current plan.
 * @returns the object key of the earlier plan's archive, null when there was none
 * Throws `RoundCancelled`; `LeaseLost`.
 */
export const recordSavedPlan = transition(
  {
    moves: { running: 'saving', interrupted: 'interrupted', saving: 'saving' },
    fence: 'checked',
    caller: 'worker, when it saves a plan',
  },
  async (sql: Sql, round: ClaimedRound, plan: NewSavedPlan | null): Promise<string | null> =>
    await sql.begin(async (tx) => {
      assertHeld(await heldSessionQuery(tx, round))
      await assertNotCancelled(tx, round.id)
      await tx`UPDATE rounds SET saving_at = clock_timestamp() WHERE id = ${round.id}`
      return await replaceSavedPlan(tx, round, plan)
    }),
)

export interface CancelledRound extends Pick<HeldRound, 'id' | 'number' | 'mode' | 'preview'> {
  /** True for the first cancellation of the round. */
  is_first: boolean
  cancelled_by: string
}

/**
 * Records the user who cancels the unfinished round of a session, which the caller has locked. Only the first
 * cancellation counts: a further call changes nothing and is no error. Throws 409 when no round runs, or when the round
 * has begun to save its plan.
 */
export const requestCancel = transition(
  {
    moves: {
      queued: 'stopping',
      running: 'cancelling',
      interrupted: 'stopping',
      parked: 'stopping',
      cancelling: 'cancelling',
      stopping: 'stopping',
    },
    guard: 'the present attempt has not begun to save its plan',
    caller: 'core, for a request to cancel',
  },
  async (tx: Transaction, session: { id: number; uuid: string }, by: string): Promise<CancelledRound> => {
    const [round] = await tx<CancelledRound[]>`
      UPDATE rounds
      SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
          cancelled_by = coalesce(cancelled_by, ${storable(by)})
      FROM (
        SELECT id, cancel_requested_at IS NULL AS is_first FROM rounds
        WHERE session_id = ${session.id} AND finished_at IS NULL
      ) before
      WHERE rounds.id = before.id AND finished_at IS NULL AND saving_at IS NULL
        AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = ${session.id} AND s.in_flight)
      RETURNING rounds.id, number, mode, preview, cancelled_by, before.is_first`
    if (round) return round
    const [saving] = await tx`SELECT 1 FROM rounds WHERE session_id = ${session.id} AND finished_at IS NULL`
    throw conflict(
      saving
        ? `The round of session ${session.uuid} seals its plan and ends now; it cannot be cancelled any more.`
        : `Session ${session.uuid} has no round that could be cancelled.`,
    )
  },
)

/**
 * Withdraws a cancelled round from its last worker, so that the caller can end it.
 * @returns the fence to end it with; null when a worker holds the round, or has to stop what it left running
 */
export const withdrawRound = transition(
  {
    moves: { stopping: 'stopping' },
    fence: 'raised',
    guard: 'no attempt of the round gave the iac service a job or was about to submit its apply',
    caller: 'core, after it has recorded a cancellation',
  },
  async (tx: Transaction, roundId: number): Promise<number | null> => {
    const [session] = await tx<{ fence: number }[]>`
      UPDATE sessions SET fence = fence + 1 FROM rounds r
      WHERE r.id = ${roundId} AND sessions.id = r.session_id AND in_flight AND r.finished_at IS NULL
        AND cancel_requested_at IS NOT NULL AND (parked OR coalesce(lease_until, '-infinity') <= clock_timestamp())
        AND jobs = '{}' AND NOT EXISTS (
          SELECT 1 FROM applies a WHERE a.round_id = r.id AND (a.intended_at IS NOT NULL OR a.result IS NOT NULL))
      RETURNING fence`
    return session?.fence ?? null
  },
)

export interface WrittenEnd {
  status: TerminalStatus
  message: string
  /** Head of the session branch. Null keeps the head of the previous round. */
  commit: string | null
  /** JSON text, in which the tokens and the cost are replaced by those of all runs of the round; null for none. */
  usage: string | null
  result: string | null
}

/**
 * Finishes a round in the caller's transaction, which has locked the session. A commit becomes the reviewed one only if
 * the round completed: a declined request may find a commit that someone else pushed. Throws `LeaseLost`.
 */
export const endRound = transition(
  {
    moves: {
      running: ['ended', 'failed'],
      interrupted: ['ended', 'failed'],
      saving: ['ended', 'failed'],
      cancelling: 'ended',
      stopping: 'ended',
    },
    fence: 'checked',
    status: '`completed`, `uncompleted` or `failed`',
    caller: 'worker at the end of a round; core, for a cancelled round that it has withdrawn',
  },
  async (tx: Transaction, round: HeldRound, { status, message, commit, usage, result }: WrittenEnd): Promise<void> => {
    await appendStatus(tx, round, status, message)
    await tx`
      UPDATE sessions SET in_flight = false, last_commit = coalesce(${commit}, last_commit),
        reviewed_commit = CASE WHEN ${status === 'completed' && !round.preview}
          THEN coalesce(${commit}, nullif(reviewed_commit, '')) ELSE reviewed_commit END
      WHERE id = ${round.session.id}`
    // The meter of this run does not know the calls of earlier runs of the round, nor those that failed.
    await tx`
      UPDATE rounds SET finished_at = clock_timestamp(), lease_until = NULL, result = ${result}::jsonb,
        usage = coalesce(
          (SELECT coalesce(${usage}::jsonb, '{}') || jsonb_build_object(
             'input_tokens', input_tokens, 'cached_tokens', cached_tokens, 'output_tokens', output_tokens,
             'cost_usd', CASE WHEN unpriced_calls = 0 THEN round(cost_usd::numeric, 6) END)
           FROM round_spend WHERE round_id = ${round.id}),
          ${usage}::jsonb)
      WHERE id = ${round.id}`
  },
)

/** Reads the user who has cancelled a round; null for none. */
export async function readCancelledBy(db: Db, roundId: number): Promise<string | null> {
  const [row] = await db<{ cancelled_by: string | null }[]>`
    SELECT cancelled_by FROM rounds WHERE id = ${roundId} AND cancel_requested_at IS NOT NULL`
  return row?.cancelled_by ?? null
}

/**
 * Throws `RoundCancelled` when the round has been cancelled. The caller's transaction has locked the session, for which
 * each cancellation waits, so its later writes precede any cancellation.
 */
export async function assertNotCancelled(tx: Transaction, roundId: number): Promise<void> {
  const by = await readCancelledBy(tx, roundId)
  if (by !== null) throw new RoundCancelled(by)
}

/** The gates by which a review locks, in words. */
const GATES_OF_REVIEW = { compliance: 'Compliance', impact: 'High impact' } as const

/** Why a review locks: by which gate, and for what. */
export type ReviewReason = { gate: keyof typeof GATES_OF_REVIEW; what: string }

/**
 * Writes a review's decision about the lock of its session, and keeps the earlier lock in case the round is cancelled.
 * @param reasons why it locks, masked; they replace those of an earlier review. Empty when it unlocks
 * Throws `LeaseLost`; 500 `SetLockError` when the database refuses the write.
 */
export const recordLockDecision = transition(
  {
    moves: stay,
    fence: 'checked',
    lock: 'locks or unlocks the session',
    caller: 'worker, after the review of a plan',
  },
  async (sql: Sql, round: ClaimedRound, isBlocked: boolean, reasons: readonly ReviewReason[]): Promise<void> => {
    const where = sql`id = ${round.session.id} AND fence = ${round.fence} AND in_flight`
    const actor = platformFor(round.session.user_id)
    const reason = reasons.map(({ gate, what }) => `${GATES_OF_REVIEW[gate]}. ${what}`).join(' ')
    const entry = { actor, detail: { round: round.number, ...(reason !== '' && { reason }) } }
    const earlier = sql`UPDATE rounds SET lock_before = before.is_blocked, lock_was = before.lock FROM before
      WHERE rounds.id = ${round.id} AND lock_before IS NULL`
    const lock = isBlocked && {
      gates: Object.keys(GATES_OF_REVIEW),
      reasons: reasons.map((each) => ({ ...each, round: round.number })),
    }
    const rows = await writeLock(sql, { where, besides: earlier }, lock, entry).catch((cause) => {
      throw new PlatformError('SetLockError', 500, 'Error updating DB session lock.', { cause })
    })
    if (rows.length === 0) throw new LeaseLost()
  },
)

/** Restores the lock that the session had before a cancelled round decided on it. */
export const restoreLock = transition(
  {
    moves: { ended: 'ended' },
    lock: 'as before the decision of the round',
    guard: 'the round was cancelled and had decided on the lock, and no operator has since',
    caller: 'the end of a cancelled round',
  },
  async (tx: Transaction, round: HeldRound): Promise<void> => {
    const entry = {
      action: tx`CASE WHEN lock_before THEN 'session_locked' ELSE 'session_unlocked' END`,
      actor: platformFor(round.session.user_id),
      session_id: round.session.uuid,
      detail: { round: round.number },
    }
    await tx`
      WITH decided AS (
        SELECT sessions.id, is_blocked, lock_before, lock_was FROM sessions JOIN rounds ON rounds.id = ${round.id}
        WHERE sessions.id = ${round.session.id} AND finished_at IS NOT NULL AND cancel_requested_at IS NOT NULL
          AND (is_blocked <> lock_before OR lock_before AND lock IS DISTINCT FROM lock_was)
      ), restored AS (
        UPDATE sessions SET is_blocked = lock_before, lock = lock_was FROM decided WHERE sessions.id = decided.id
      )
      ${auditInsert(tx, entry, tx`FROM decided WHERE is_blocked <> lock_before`)}`
  },
)

export const OWNER_UNLOCKS = 'A session is not unlocked by its owner; another user with panel role editor has to.'

interface LockRequest {
  /** The actor of the audit entry; default: the platform. */
  actor?: Actor
  /** Why, for the audit entry. */
  reason?: string | undefined
  /** True if the owner of the session may not unlock it. */
  unlock_by_another?: boolean
}

/**
 * Locks or unlocks a session at an operator's request. Returns null when there is no such session. Cancelling the round
 * afterwards does not revert the operator's choice. Throws 403 where the operator may not unlock the own session.
 */
export const setLock = transition(
  {
    moves: { ...stay, queued: 'queued', parked: 'parked', stopping: 'stopping', ended: 'ended', failed: 'failed' },
    lock: 'locks or unlocks the session',
    caller: 'core, for a request of an operator',
  },
  async (
    { sql, cache }: Pick<Context, 'sql' | 'cache'>,
    uuid: string,
    locked: boolean,
    { actor = platformFor(null), reason, unlock_by_another = false }: LockRequest = {},
  ): Promise<{ uuid: string; is_blocked: boolean } | null> => {
    if (!isUuid(uuid)) return null
    const may = locked || !unlock_by_another ? sql`true` : sql`user_id IS DISTINCT FROM ${actor.user_id}::integer`
    const decided = sql`UPDATE rounds SET lock_before = NULL FROM before
      WHERE rounds.session_id = before.id AND finished_at IS NULL AND lock_before IS NOT NULL`
    const session = { where: sql`uuid = ${uuid} AND ${may}`, besides: decided }
    const lock: false | NewLock = locked && {
      gates: ['person'],
      reasons: [{ gate: 'person', what: reason ?? null, round: null }],
    }
    const [row] = await writeLock(sql, session, lock, { actor, detail: reason === undefined ? {} : { reason } })
    if (!row) {
      const [own] = await sql`SELECT 1 FROM sessions WHERE uuid = ${uuid} AND NOT ${may}`
      if (own) throw forbidden(OWNER_UNLOCKS)
      return null
    }
    await cache.delete(sessionAggregateKey(uuid))
    return row
  },
)

interface NewLock {
  /** The gates for which these reasons replace earlier ones of the same author. */
  gates: string[]
  reasons: readonly Omit<LockReason, 'by'>[]
}

/**
 * Sets the lock of the session that `where` selects. If that changes it, the same statement adds the audit entry. A
 * session that is locked already keeps since when, and the reasons of other gates.
 * @param session.besides another write of the same statement, which sees the previous lock in `before`
 * @param lock false to unlock
 */
const writeLock = (
  sql: Sql,
  session: { where: Query; besides: Query },
  lock: false | NewLock,
  entry: { actor: Actor; detail?: object },
) =>
  sql<{ uuid: string; is_blocked: boolean }[]>`
    WITH before AS (
      SELECT id, is_blocked, lock FROM sessions WHERE ${session.where} FOR NO KEY UPDATE
    ), besides AS (${session.besides}), written AS (
      UPDATE sessions SET is_blocked = ${lock !== false}, lock = ${lock === false ? sql`NULL` : lockValue(sql, lock, entry.actor.name)}
      FROM before WHERE sessions.id = before.id
      RETURNING sessions.uuid, sessions.is_blocked, before.is_blocked AS was_blocked
    ), audit AS (${auditInsert(
      sql,
      { ...entry, action: lock ? 'session_locked' : 'session_unlocked', session_id: sql`uuid` },
      sql`FROM written WHERE is_blocked <> was_blocked`,
    )})
    SELECT uuid, is_blocked FROM written`

/** Returns the lock as details and lists show it, made from the previous one in `before`. */
const lockValue = (sql: Sql, { gates, reasons }: NewLock, by: string): Query => sql`
  jsonb_build_object(
    'since', CASE WHEN before.is_blocked THEN before.lock->'since'
             ELSE to_jsonb(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) END,
    'reasons', coalesce((
      SELECT jsonb_agg(reason) FROM jsonb_array_elements(before.lock->'reasons') reason
      WHERE before.is_blocked AND NOT (reason->>'gate' = ANY(${gates}) AND reason->>'by' = ${by})
    ), '[]') || ${storableJson(reasons.map((reason) => ({ ...reason, by })))}::jsonb)`

/** All transitions, in the order of a round's life. */
export const TRANSITIONS = {
  openSession,
  openRound,
  claimRound,
  extendLease,
  shortenLeases,
  appendStatus,
  claimProject,
  parkRound,
  releaseProject,
  recordLockDecision,
  recordSavedPlan,
  releaseRound,
  requestCancel,
  withdrawRound,
  endRound,
  restoreLock,
  setLock,
} as const
