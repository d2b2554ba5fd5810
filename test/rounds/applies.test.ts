import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import { readApplyProgress, recordApplyJob, recordApplyResult, recordIntent } from '../../src/rounds/applies.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { type ClaimedRound, sessionAggregateKey } from '../../src/rounds/round.ts'
import { claimProject, parkRound, recordSavedPlan, setLock } from '../../src/rounds/transitions.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimedSession, claimOf, END, lapseLease, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const job_id = crypto.randomUUID()
const NOTHING = { waited_s: null, intended: false, job_id: null, result: null }

/** Claims an apply round of a session with a saved plan. */
async function applyRound(project_id: string): Promise<ClaimedRound> {
  const { uuid, claim } = await claimedSession(context)
  await recordSavedPlan(db.sql, claim, { ...SAVED_PLAN, project_id })
  await finishRound(context, claim, END)
  context.cache.entries.set(sessionAggregateKey(uuid), { value: 'old', ttl: 1 })
  const round = await nextRound(context, uuid, { mode: 'apply' })
  expect(context.cache.entries.has(sessionAggregateKey(uuid))).toBe(false)
  expect(
    await db.sql`
    SELECT detail->'round' AS round FROM audit_records
    WHERE session_uuid = ${uuid} AND action = 'apply_accepted'`,
  ).toEqual([{ round: 2 }])
  return round
}

describe('the progress of an apply', () => {
  it('is known to the next run, which may submit no second job', async () => {
    const project_id = crypto.randomUUID()
    const round = await applyRound(project_id)
    expect(await readApplyProgress(db.sql, round.id)).toEqual(NOTHING)
    expect(await claimProject(db.sql, round, project_id)).toBeNull()
    await recordApplyJob(db.sql, round.id, crypto.randomUUID())
    expect(await recordIntent(db.sql, round, { ...SAVED_PLAN, project_id })).toBe(true)
    expect(await readApplyProgress(db.sql, round.id)).toEqual({ ...NOTHING, intended: true })
    await expect(recordIntent(db.sql, round, { ...SAVED_PLAN, project_id })).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('no longer the one that was checked'),
    })
    await recordApplyJob(db.sql, round.id, job_id)
    await recordApplyJob(db.sql, round.id, crypto.randomUUID())
    const result = { kind: 'ran', exit_code: 0, stdout: 'a\0b', stderr: '' } as const
    await recordApplyResult(db.sql, round, project_id, result)
    const done = { waited_s: null, intended: true, job_id, result: { ...result, stdout: 'ab' } }
    expect(await readApplyProgress(db.sql, round.id)).toEqual(done)
    await lapseLease(db.sql, round.id)
    const second = await claimOf(db.sql, round.session.uuid)
    await expect(recordApplyResult(db.sql, round, project_id, { kind: 'unknown', reason: 'x' })).rejects.toThrow(
      LeaseLost,
    )
    expect(await readApplyProgress(db.sql, second.id)).toEqual(done)
    await finishRound(context, second, END)
    expect(await readApplyProgress(db.sql, second.id)).toMatchObject({ job_id, result: null })
  })

  it('counts the seconds for which it waits for another one of its project', async () => {
    const project_id = crypto.randomUUID()
    const [holder, round] = [await applyRound(project_id), await applyRound(project_id)]
    expect(await claimProject(db.sql, holder, project_id)).toBeNull()
    expect(await claimProject(db.sql, round, project_id)).toBe(holder.session.uuid)
    expect(await parkRound(context, round, { project_id, limitS: 60 })).toBe(true)
    await db.sql`UPDATE applies SET waiting_since = waiting_since - interval '5 s' WHERE round_id = ${round.id}`
    const { waited_s } = await readApplyProgress(db.sql, round.id)
    expect(waited_s).toBeGreaterThanOrEqual(5)
    expect(waited_s).toBeLessThan(35)
    const sent = context.sent.length
    await finishRound(context, holder, END)
    expect(context.sent.slice(sent)).toEqual([round.id])
    const again = await claimOf(db.sql, round.session.uuid)
    expect(again).toMatchObject({ attempt: 2, interruptions: 0 })
    expect(await parkRound(context, again, { project_id, limitS: 60 })).toBe(false)
    expect(await claimProject(db.sql, again, project_id)).toBeNull()
    expect((await readApplyProgress(db.sql, round.id)).waited_s).toBeNull()
  })

  it('does not begin on a locked session, nor without its project or with another plan', async () => {
    const project_id = crypto.randomUUID()
    const round = await applyRound(project_id)
    const intent = (changes: object = {}) => recordIntent(db.sql, round, { ...SAVED_PLAN, project_id, ...changes })
    await expect(intent()).rejects.toMatchObject({ status: 500 })
    await claimProject(db.sql, round, project_id)
    await expect(intent({ plan_sha256: 'f'.repeat(64) })).rejects.toMatchObject({ status: 500 })
    await setLock(context, round.session.uuid, true)
    expect(await intent()).toBe(false)
    expect(await readApplyProgress(db.sql, round.id)).toEqual(NOTHING)
    await setLock(context, round.session.uuid, false)
    expect(await intent()).toBe(true)
    await expect(recordIntent(db.sql, { ...round, fence: 0 }, { ...SAVED_PLAN, project_id })).rejects.toThrow(LeaseLost)
  })
})
