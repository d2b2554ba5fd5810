import { describe, expect, it } from 'vitest'
import { finishRound } from '../../src/rounds/finish.ts'
import { recordSavedPlan } from '../../src/rounds/transitions.ts'
import { countSessionTokens, readReviewedCommit, readStandings } from '../../src/sessions/find.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimedSession, END, nextRound, useVerbs } from './fixtures.ts'

const { db, context } = useVerbs()

describe('what is read of a session beside its detail', () => {
  it('is the sum of its tokens, of the rounds that know theirs', async () => {
    const { uuid, claim } = await claimedSession(context)
    expect(await countSessionTokens(db.sql, claim.session.id)).toBe(0)
    await finishRound(context, claim, { ...END, usage: { input_tokens: 100, output_tokens: 20, cached_tokens: 50 } })
    await finishRound(context, await nextRound(context, uuid), END)
    await finishRound(context, await nextRound(context, uuid), { ...END, usage: { output_tokens: 3 } })
    expect(await countSessionTokens(db.sql, claim.session.id)).toBe(123)
    expect(await countSessionTokens(db.sql, 0)).toBe(0)
  })

  it('is the commit of its last completed round', async () => {
    const { uuid, claim } = await claimedSession(context)
    const { id } = claim.session
    expect(await readReviewedCommit(db.sql, id)).toBe('')
    await finishRound(context, claim, { ...END, commit: 'a'.repeat(40) })
    const declined = { ...END, status: 'uncompleted', commit: 'b'.repeat(40) } as const
    await finishRound(context, await nextRound(context, uuid), declined)
    expect(await readReviewedCommit(db.sql, id)).toBe('a'.repeat(40))
    expect(await readReviewedCommit(db.sql, 0)).toBeNull()
  })

  it('is whether a worker still needs its files', async () => {
    const running = await claimedSession(context)
    const planned = await claimedSession(context)
    await recordSavedPlan(db.sql, planned.claim, SAVED_PLAN)
    await finishRound(context, planned.claim, END)
    const unknown = '00000000-0000-4000-8000-000000000000'
    const standings = await readStandings(db.sql, [running.uuid.toUpperCase(), planned.uuid, unknown])
    expect(Object.fromEntries(standings)).toEqual({
      [running.uuid]: { uuid: running.uuid, in_flight: true, last_status: 'started', has_saved_plan: false },
      [planned.uuid]: { uuid: planned.uuid, in_flight: false, last_status: 'completed', has_saved_plan: true },
    })
    await finishRound(context, await nextRound(context, planned.uuid, { mode: 'apply' }), END)
    expect((await readStandings(db.sql, [planned.uuid])).get(planned.uuid)?.has_saved_plan).toBe(false)
  })
})
