import { describe, expect, it } from 'vitest'
import { type ApplyResult, recordApplyResult, recordIntent } from '../../src/rounds/applies.ts'
import { finishRound, type RoundEnd } from '../../src/rounds/finish.ts'
import { claimProject, recordSavedPlan } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { jumpClock } from '../helpers/jump-clock.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimedSession, claimOf, createSession, lapseLease, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const end = (status: RoundEnd['status'], commit: string | null = SAVED_PLAN.commit): RoundEnd => ({
  status,
  message: '',
  history: null,
  commit,
  usage: null,
})
const statusOf = async (uuid: string) => {
  const aggregate = await loadAggregate(context, uuid, { includeHistory: false })
  // The second reading may come from the cache.
  expect(await loadAggregate(context, uuid, { includeHistory: false })).toEqual(aggregate)
  return aggregate?.saved_plan
}
const next = (uuid: string, mode: 'generate' | 'drift' | 'apply') => nextRound(context, uuid, { mode })
/** Creates a session whose first round saved a plan and completed. */
async function sessionWithPlan(changes: Partial<typeof SAVED_PLAN> = {}): Promise<string> {
  const { uuid, claim: round } = await claimedSession(context)
  await recordSavedPlan(db.sql, round, { ...SAVED_PLAN, ...changes })
  await finishRound(context, round, end('completed'))
  return uuid
}

describe('the saved plan of a session', () => {
  it('is null before a plan is saved', async () => {
    const uuid = await createSession(context)
    expect(await statusOf(uuid)).toBeNull()
    await finishRound(context, await claimOf(db.sql, uuid), end('uncompleted'))
    expect(await statusOf(uuid)).toBeNull()
  })

  it('names the plan and its round, and is valid after the round completed', async () => {
    const uuid = await sessionWithPlan({ targets: ['a.b'], archive_key: 'k' })
    expect(await statusOf(uuid)).toEqual({
      plan_sha256: SAVED_PLAN.plan_sha256,
      commit: SAVED_PLAN.commit,
      engine: { name: 'OpenTofu', version: '1.10.6' },
      state: { serial: 7, lineage: 'lineage-1' },
      saved_at: expect.stringMatching(/Z$/),
      round: 1,
      valid: true,
      reason: null,
      explanation: null,
      has_copy: true,
      targets: ['a.b'],
      verified_at: null,
      checks: [],
    })
  })

  it('is the newest one, although the clock of the database went back before it was saved', async () => {
    const uuid = await sessionWithPlan()
    await jumpClock(db.sql, -1)
    const round = await next(uuid, 'generate')
    await recordSavedPlan(db.sql, round, { ...SAVED_PLAN, targets: ['a.c'] })
    await finishRound(context, round, end('completed'))
    expect(await statusOf(uuid)).toMatchObject({ round: 2, targets: ['a.c'] })
  })

  it('tells neither engine nor state where they are not known', async () => {
    expect(await statusOf(await sessionWithPlan({ engine: null, state: null }))).toMatchObject({
      engine: null,
      state: null,
      has_copy: false,
      valid: true,
    })
  })

  it('is not reviewed while its round runs, or after it was interrupted and did not complete', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordSavedPlan(db.sql, round, SAVED_PLAN)
    const expected = {
      valid: false,
      reason: 'not_reviewed',
      explanation: 'Round 1, which sealed the plan, has not completed.',
    }
    expect(await statusOf(uuid)).toMatchObject(expected)
    await lapseLease(db.sql, round.id)
    const again = await claimOf(db.sql, uuid)
    expect(await statusOf(uuid)).toMatchObject(expected)
    await recordSavedPlan(db.sql, again, { ...SAVED_PLAN, plan_sha256: 'b'.repeat(64) })
    await finishRound(context, again, end('uncompleted'))
    expect(await statusOf(uuid)).toMatchObject({ ...expected, plan_sha256: 'b'.repeat(64), round: 1 })
  })

  it('is that of the latest round that saved one', async () => {
    const uuid = await sessionWithPlan()
    const round = await next(uuid, 'generate')
    expect(await statusOf(uuid)).toMatchObject({ round: 1, valid: true })
    await recordSavedPlan(db.sql, round, { ...SAVED_PLAN, plan_sha256: 'd'.repeat(64), commit: 'commit-2' })
    await finishRound(context, round, end('completed', 'commit-2'))
    expect(await statusOf(uuid)).toMatchObject({ round: 2, plan_sha256: 'd'.repeat(64), valid: true })
    const ended =
      await db.sql`SELECT end_reason, ended_by IS NOT NULL AS known FROM saved_plans WHERE ended_at IS NOT NULL
      AND session_id = ${round.session.id}`
    expect(ended).toEqual([{ end_reason: 'superseded', known: true }])
  })

  it('is not valid for code that came later', async () => {
    const uuid = await sessionWithPlan()
    await finishRound(context, await next(uuid, 'drift'), end('completed', 'f'.repeat(40)))
    expect(await statusOf(uuid)).toMatchObject({
      valid: false,
      reason: 'newer_commit',
      explanation: 'The session branch is at commit ffffffffffff, and the plan was made from 1234567890ab.',
    })
  })

  it('is superseded by a round whose plan cannot be saved', async () => {
    const uuid = await sessionWithPlan()
    const round = await next(uuid, 'generate')
    await recordSavedPlan(db.sql, round, null)
    await finishRound(context, round, end('completed'))
    expect(await statusOf(uuid)).toMatchObject({
      round: 1,
      reason: 'superseded',
      explanation: 'Superseded by round 2, which made a plan of its own.',
    })
  })

  it('cannot be applied in a session that failed', async () => {
    const uuid = await sessionWithPlan()
    await finishRound(context, await next(uuid, 'generate'), end('failed'))
    expect(await statusOf(uuid)).toMatchObject({ valid: false, reason: 'session_failed' })
  })

  it.each([
    ['completed'],
    ['failed'],
    ['uncompleted'],
  ] as const)('is used by an apply that submitted it to the engine and ended %s', async (status) => {
    const uuid = await sessionWithPlan({ project_id: `used-${status}`, archive_key: 'k' })
    const round = await next(uuid, 'apply')
    expect(await statusOf(uuid)).toMatchObject({ valid: true })
    expect(await claimProject(db.sql, round, `used-${status}`)).toBeNull()
    const plan = { plan_sha256: SAVED_PLAN.plan_sha256, project_id: `used-${status}` }
    expect(await recordIntent(db.sql, round, plan)).toBe(true)
    await finishRound(context, round, end(status))
    expect(await statusOf(uuid)).toMatchObject({
      valid: false,
      reason: 'used',
      explanation: 'Used by round 2.',
      has_copy: false,
    })
  })

  it.each([
    ['state_moved', 'Refused by round 2, because the state had moved after the plan was made.'],
    ['engine_changed', 'Refused by round 2, because the engine was not the one that made the plan.'],
    [undefined, 'Taken away by round 2, an apply that ended before it handed the plan to the engine.'],
  ] as const)('says that an apply refused it: %s', async (cause, explanation) => {
    const uuid = await sessionWithPlan()
    const round = await next(uuid, 'apply')
    const refused: ApplyResult = { kind: 'refused', reason: 'r', advice: 'a', ...(cause && { cause }) }
    await recordApplyResult(db.sql, round, SAVED_PLAN.project_id, refused)
    await finishRound(context, round, end('completed'))
    expect(await statusOf(uuid)).toMatchObject({ valid: false, reason: cause ?? 'discarded', explanation })
  })

  it('is taken away by an apply that was cancelled before the engine had it, and replaced later', async () => {
    const uuid = await sessionWithPlan()
    await finishRound(context, await next(uuid, 'apply'), end('uncompleted'))
    expect(await statusOf(uuid)).toMatchObject({ valid: false, reason: 'discarded' })
    const round = await next(uuid, 'generate')
    await recordSavedPlan(db.sql, round, SAVED_PLAN)
    await finishRound(context, round, end('completed'))
    expect(await statusOf(uuid)).toMatchObject({ valid: true, round: 3 })
  })
})
