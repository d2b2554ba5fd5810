import { describe, expect, it } from 'vitest'
import { platformFor } from '../../src/access/audit/record.ts'
import { RoundCancelled } from '../../src/base/errors.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { recordIntent } from '../../src/rounds/applies.ts'
import { CANCEL_CHANNEL, cancelRound, startCancelWatch } from '../../src/rounds/cancel.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { sessionAggregateKey } from '../../src/rounds/round.ts'
import { recordJob, recordPush } from '../../src/rounds/run-records.ts'
import {
  claimProject,
  extendLease,
  parkRound,
  recordLockDecision,
  recordSavedPlan,
  releaseRound,
  STATUS_CHANNEL,
  setLock,
} from '../../src/rounds/transitions.ts'
import { findSavedPlan } from '../../src/saved-plans/saved-plan.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimedSession, claimOf, createSession, END, lapseLease, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const cancel = (uuid: string, by = 'ada@example.org') =>
  cancelRound(context, { session_uuid: uuid, by, actor: platformFor(null) })
const end = { ...END, commit: 'head-2' }
async function detail(uuid: string) {
  const session = await loadAggregate(context, uuid, { includeHistory: true })
  if (!session) throw new Error('no session')
  return session
}
const endsOf = async (uuid: string) =>
  (await detail(uuid)).rounds
    .flatMap(({ statuses }) => statuses)
    .filter(({ status }) => ['completed', 'uncompleted', 'failed'].includes(status))
    .map(({ status, message }) => [status, message])
const CANCELLED = ['uncompleted', 'Cancelled by ada@example.org.']

/** Makes a session whose first round completed with a saved plan. */
async function sessionWithPlan(project_id = 'project') {
  const { uuid, claim } = await claimedSession(context)
  await recordSavedPlan(db.sql, claim, { ...SAVED_PLAN, project_id })
  await finishRound(context, claim, { ...end, commit: SAVED_PLAN.commit })
  return uuid
}
const savedPlanOf = async (uuid: string) => {
  const [row] = await db.sql<{ id: number }[]>`SELECT id FROM sessions WHERE uuid = ${uuid}`
  return await findSavedPlan(db.sql, row?.id ?? 0)
}

describe('a round that no worker has', () => {
  it('ends at once, tells its watchers, and its message of the queue does nothing', async () => {
    const uuid = await createSession(context)
    context.cache.entries.set(sessionAggregateKey(uuid), { value: 'old', ttl: 1 })
    const notified: string[] = []
    const { unlisten } = await db.sql.listen(STATUS_CHANNEL, (payload) => void notified.push(payload))
    const id = (await detail(uuid)).rounds[0]?.id ?? 0
    expect(await cancel(uuid)).toBe('ended')
    expect(await detail(uuid)).toMatchObject({ in_flight: false, current_status: 'uncompleted', history: [] })
    expect(await endsOf(uuid)).toEqual([CANCELLED])
    expect(context.cache.entries.has(sessionAggregateKey(uuid))).toBe(false)
    expect(await claimForRun(db.sql, id)).toBeNull()
    await expect.poll(() => notified).toContain(uuid)
    await unlisten()
    expect(await nextRound(context, uuid)).toMatchObject({ number: 2, attempt: 1, cancelled_by: null })
  })

  it('is left to a worker when it has given the iac service a job', async () => {
    const { uuid, claim } = await claimedSession(context)
    await recordJob(db.sql, claim, 'plan-1', 'job-1')
    await releaseRound(context, claim)
    expect(await cancel(uuid)).toBe('requested')
    expect(await detail(uuid)).toMatchObject({ in_flight: true })
    expect(await claimOf(db.sql, uuid)).toMatchObject({ cancelled_by: 'ada@example.org', jobs: { 'plan-1': 'job-1' } })
    expect((await detail(uuid)).rounds[0]?.statuses.map(({ status }) => status)).toEqual(['started'])
  })

  it('leaves the saved plan when it is an apply that never began', async () => {
    const uuid = await sessionWithPlan()
    await acceptRound(context, { session_uuid: uuid, mode: 'apply', query: 'q', is_partial: false })
    expect(await cancel(uuid)).toBe('ended')
    expect(await savedPlanOf(uuid)).toMatchObject({ reviewed: true, plan: { commit: SAVED_PLAN.commit } })
    expect(await nextRound(context, uuid, { mode: 'apply' })).toMatchObject({ mode: 'apply', number: 3 })
  })

  it('ends when it is an apply that waits for another one', async () => {
    const holder = await sessionWithPlan('shared')
    const first = await nextRound(context, holder, { mode: 'apply' })
    expect(await claimProject(db.sql, first, 'shared')).toBeNull()
    const uuid = await sessionWithPlan('shared')
    const claim = await nextRound(context, uuid, { mode: 'apply' })
    expect(await parkRound(context, claim, { project_id: 'shared', limitS: 600 })).toBe(true)
    expect(await cancel(uuid)).toBe('ended')
    const before = context.sent.length
    await finishRound(context, first, end)
    expect(context.sent.slice(before)).toEqual([])
  })
})

describe('a round that a worker has', () => {
  it('is told of the first cancellation by a notification, by the lease and at its end', async () => {
    const { uuid, claim } = await claimedSession(context)
    const watch = await startCancelWatch(db.sql, context.log)
    const told: string[] = []
    const stop = watch.watch(claim.id, (by) => told.push(by))
    expect(await cancel(uuid)).toBe('requested')
    expect(await cancel(uuid, 'grace@example.org')).toBe('requested')
    await expect.poll(() => new Set(told)).toEqual(new Set(['ada@example.org']))
    const [first, others]: [number, string[]] = [told.length, []]
    watch.watch(claim.id, (by) => others.push(by))
    stop()
    await cancel(uuid)
    await expect.poll(() => others).toEqual(['ada@example.org'])
    expect(told).toHaveLength(first)
    await watch.close()
    expect(
      await db.sql`
      SELECT detail FROM audit_records WHERE session_uuid = ${uuid} AND action = 'round_cancelled'`,
    ).toEqual([{ detail: { round: 1 } }])
    expect(await extendLease(db.sql, claim)).toBe('ada@example.org')
    expect(await finishRound(context, claim, end)).toMatchObject({ status: 'uncompleted', commit: null })
    expect(await endsOf(uuid)).toEqual([CANCELLED])
    const [session] = await db.sql`SELECT last_commit, reviewed_commit FROM sessions WHERE uuid = ${uuid}`
    expect(session).toEqual({ last_commit: null, reviewed_commit: '' })
  })

  it('is told of a cancellation that came while the connection was broken', async () => {
    const { claim } = await claimedSession(context)
    await db.sql`UPDATE rounds SET cancel_requested_at = now(), cancelled_by = 'ada' WHERE id = ${claim.id}`
    const watch = await startCancelWatch(db.sql, context.log)
    const told = new Promise((resolve) => watch.watch(claim.id, resolve))
    await db.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE ${`%listen%${CANCEL_CHANNEL}%`} AND pid <> pg_backend_pid()`
    expect(await told).toBe('ada')
    await watch.close()
  })

  it('leaves the lock as it was, unless an operator has set it since', async () => {
    for (const [operator, expected] of [
      [null, false],
      [true, true],
    ] as const) {
      const { uuid, claim } = await claimedSession(context)
      await recordLockDecision(db.sql, claim, true, [])
      if (operator !== null) await setLock(context, uuid, operator)
      await cancel(uuid)
      await finishRound(context, claim, end)
      expect((await detail(uuid)).is_blocked).toBe(expected)
    }
    const { uuid, claim } = await claimedSession(context)
    await recordLockDecision(db.sql, claim, true, [])
    await finishRound(context, claim, end)
    expect((await detail(uuid)).is_blocked).toBe(true)
  })

  it('does not submit its apply after it was cancelled, and keeps its plan', async () => {
    const uuid = await sessionWithPlan('guarded')
    const claim = await nextRound(context, uuid, { mode: 'apply' })
    expect(await claimProject(db.sql, claim, 'guarded')).toBeNull()
    await cancel(uuid)
    await expect(recordIntent(db.sql, claim, { ...SAVED_PLAN, project_id: 'guarded' })).rejects.toThrow(RoundCancelled)
    await finishRound(context, claim, { ...end, keeps_plan: true })
    expect(await savedPlanOf(uuid)).toMatchObject({ reviewed: true })
  })

  it('cannot be cancelled once it saves its plan, until another worker starts it again', async () => {
    const { uuid, claim } = await claimedSession(context)
    await recordSavedPlan(db.sql, claim, null)
    await expect(cancel(uuid)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('seals its plan'),
    })
    await lapseLease(db.sql, claim.id)
    await claimOf(db.sql, uuid)
    expect(await cancel(uuid)).toBe('requested')
  })

  it('leaves its last push to be passed over by the next round', async () => {
    const { uuid, claim } = await claimedSession(context)
    await recordPush(db.sql, claim, 'pushed-1')
    await cancel(uuid)
    await finishRound(context, claim, end)
    expect(await nextRound(context, uuid)).toMatchObject({ abandoned_commits: ['pushed-1'], base_commit: null })
  })
})

describe('a session without a round that runs', () => {
  it('answers 409, and 404 when there is no session', async () => {
    const { uuid, claim } = await claimedSession(context)
    await finishRound(context, claim, end)
    await expect(cancel(uuid)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('no round') })
    await expect(cancel(crypto.randomUUID())).rejects.toMatchObject({ status: 404 })
    expect(await endsOf(uuid)).toEqual([['completed', 'GENERATE']])
  })
})

describe('races', () => {
  const times = Array.from({ length: 12 }, (_, index) => index)

  it('a cancellation and a claim: the round ends at once, or its worker knows', async () => {
    for (const _ of times) {
      const uuid = await createSession(context)
      const id = (await detail(uuid)).rounds[0]?.id ?? 0
      const [outcome, claim] = await Promise.all([cancel(uuid), claimForRun(db.sql, id)])
      if (outcome === 'ended') expect(claim).toBeNull()
      else {
        if (!claim) throw new Error('nobody has the round')
        expect(await extendLease(db.sql, claim)).toBe('ada@example.org')
        await finishRound(context, claim, end)
      }
      expect(await endsOf(uuid)).toEqual([CANCELLED])
    }
  })

  it('a cancellation and an end: one of them wins', async () => {
    for (const _ of times) {
      const { uuid, claim } = await claimedSession(context)
      const [cancelled] = await Promise.allSettled([cancel(uuid), finishRound(context, claim, end)])
      expect(await endsOf(uuid)).toEqual([cancelled.status === 'fulfilled' ? CANCELLED : ['completed', 'GENERATE']])
      expect((await detail(uuid)).in_flight).toBe(false)
    }
  })

  it('a cancellation and a saved plan: one of them wins', async () => {
    for (const _ of times) {
      const { uuid, claim } = await claimedSession(context)
      const [cancelled, saved] = await Promise.allSettled([cancel(uuid), recordSavedPlan(db.sql, claim, null)])
      expect([cancelled.status, saved.status].sort()).toEqual(['fulfilled', 'rejected'])
    }
  })

  it('many cancellations: the first one stays, and the round ends once', async () => {
    const uuid = await createSession(context)
    const answers = await Promise.allSettled(['a', 'b', 'c', 'd'].map((by) => cancel(uuid, by)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await endsOf(uuid)).toHaveLength(1)
  })
})
