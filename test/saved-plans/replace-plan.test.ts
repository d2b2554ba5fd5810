import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { recordSavedPlan } from '../../src/rounds/transitions.ts'
import { findSavedPlan } from '../../src/saved-plans/saved-plan.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimedSession, claimOf, lapseLease, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const claimed = async () => (await claimedSession(context)).claim
const keyOf = async ({ session }: ClaimedRound) => (await findSavedPlan(db.sql, session.id))?.plan.archive_key

describe('recordSavedPlan', () => {
  it("replaces the session's own plan by none and names its archive, never that of another session", async () => {
    const [first, second, third, unsaved] = [await claimed(), await claimed(), await claimed(), await claimed()]
    for (const [round, archive_key] of [
      [first, 'first.plan'],
      [second, 'second.plan'],
      [third, null],
    ] as const)
      expect(await recordSavedPlan(db.sql, round, { ...SAVED_PLAN, archive_key })).toBeNull()
    expect(await recordSavedPlan(db.sql, unsaved, null)).toBeNull()
    expect(await recordSavedPlan(db.sql, third, null)).toBeNull()
    expect(await recordSavedPlan(db.sql, second, null)).toBe('second.plan')
    expect(await Promise.all([first, second, third].map(keyOf))).toEqual(['first.plan', undefined, undefined])
    expect(await recordSavedPlan(db.sql, second, null)).toBeNull()
  })

  it('leaves the plan to the worker that has the round now', async () => {
    const stale = await claimed()
    await recordSavedPlan(db.sql, stale, { ...SAVED_PLAN, archive_key: 'kept.plan' })
    await lapseLease(db.sql, stale.id)
    await claimOf(db.sql, stale.session.uuid)
    await expect(recordSavedPlan(db.sql, stale, null)).rejects.toBeInstanceOf(LeaseLost)
    expect(await keyOf(stale)).toBe('kept.plan')
  })
})
