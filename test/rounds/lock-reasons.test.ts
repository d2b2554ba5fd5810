import { expect, it } from 'vitest'
import { platformFor } from '../../src/access/audit/record.ts'
import { cancelRound } from '../../src/rounds/cancel.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { recordLockDecision, setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { claimedSession, END, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const ADA = { ...platformFor(null), name: 'ada@example.org' }
const FOUND = { gate: 'compliance', what: 'r.one at a.b: Deletes data.' } as const
const HIGH = { gate: 'impact', what: 'Data is lost.' } as const
const of = (round: number) => ({ by: 'platform', round })
const said = (what: string) => ({ gate: 'person', what, by: 'ada@example.org', round: null })

/** Reads the lock from the detail, and sees that the list has the same. */
async function readLock(uuid: string) {
  const detail = await loadAggregate(context, uuid, { includeHistory: false })
  const { items } = await listSessions(db.sql, { page: 1, page_size: 1, search: uuid })
  expect(items).toMatchObject([{ uuid, is_blocked: detail?.is_blocked, lock: detail?.lock }])
  return detail?.lock
}

it('has the reasons of the newest review and of persons, since when it was first locked', async () => {
  const { uuid, claim } = await claimedSession(context)
  expect(await readLock(uuid)).toBeNull()
  await recordLockDecision(db.sql, claim, true, [FOUND])
  const first = await readLock(uuid)
  expect(first).toEqual({ since: expect.stringMatching(/\.\d{6}Z$/), reasons: [{ ...FOUND, ...of(1) }] })
  await finishRound(context, claim, END)
  await setLock(context, uuid, true, { actor: ADA, reason: 'Ask me first' })
  const second = await nextRound(context, uuid)
  const later = { ...FOUND, what: 'r.two at c.d: Is public.' }
  await recordLockDecision(db.sql, second, true, [later, HIGH])
  expect(await readLock(uuid)).toEqual({
    since: first?.since,
    reasons: [said('Ask me first'), { ...later, ...of(2) }, { ...HIGH, ...of(2) }],
  })
  await setLock(context, uuid, true, { actor: ADA, reason: 'Ask the data team' })
  expect((await readLock(uuid))?.reasons.map(({ what }) => what)).toEqual([later.what, HIGH.what, 'Ask the data team'])
  await setLock(context, uuid, false, { actor: ADA, reason: 'Seen' })
  expect(await readLock(uuid)).toBeNull()
  await setLock(context, uuid, true, { actor: ADA, reason: 'Again' })
  const again = await readLock(uuid)
  expect(again?.reasons).toEqual([said('Again')])
  expect(String(again?.since) > String(first?.since)).toBe(true)
  await recordLockDecision(db.sql, second, false, [])
  expect(await readLock(uuid)).toBeNull()
})

it('has the reasons from before a round that was cancelled', async () => {
  const { uuid, claim } = await claimedSession(context)
  await recordLockDecision(db.sql, claim, true, [FOUND])
  await finishRound(context, claim, END)
  const before = await readLock(uuid)
  const second = await nextRound(context, uuid)
  await recordLockDecision(db.sql, second, true, [HIGH])
  expect((await readLock(uuid))?.reasons).toEqual([{ ...HIGH, ...of(2) }])
  await cancelRound(context, { session_uuid: uuid, by: 'ada@example.org', actor: ADA })
  await finishRound(context, second, END)
  expect(await readLock(uuid)).toEqual(before)
})

it('says of a session that was locked before reasons were recorded that they are not known', async () => {
  const { uuid, claim } = await claimedSession(context)
  await db.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
  expect(await readLock(uuid)).toBeNull()
  await recordLockDecision(db.sql, claim, true, [HIGH])
  expect(await readLock(uuid)).toEqual({ since: null, reasons: [{ ...HIGH, ...of(1) }] })
})
