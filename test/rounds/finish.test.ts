import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import type { Context } from '../../src/context.ts'
import { finishDespiteOutages, finishRound } from '../../src/rounds/finish.ts'
import { keepLease } from '../../src/rounds/lease.ts'
import { emptyResult } from '../../src/rounds/round-result.ts'
import { eventually } from '../helpers/eventually.ts'
import { claimedSession, claimOf, createSession, END, lapseLease, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const lives = new AbortController().signal
const stored = async (id: number) => (await db.sql`SELECT result, finished_at FROM rounds WHERE id = ${id}`)[0]

/** Makes a context whose database fails the first transactions. */
const outage = (failures: number) => {
  let left = failures
  const begin: Context['sql']['begin'] = (...args: [never]) =>
    left-- > 0 ? Promise.reject(new Error('the database is away')) : db.sql.begin(...args)
  return {
    ...context,
    sql: new Proxy(db.sql, { get: (sql, key) => (key === 'begin' ? begin : Reflect.get(sql, key)) }),
  }
}

describe('the end of a round', () => {
  it('is written as soon as the database is there again', async () => {
    const { claim } = await claimedSession(context)
    expect(await finishDespiteOutages(outage(2), claim, END, lives)).toMatchObject({ status: 'completed' })
    expect((await stored(claim.id))?.finished_at).not.toBeNull()
    const warned = context.lines.filter(({ message }) => message === 'the end of the round could not be written yet')
    expect(warned).toHaveLength(2)
  })

  it('is the last error when the database stays away', async () => {
    const { claim } = await claimedSession(context)
    await expect(finishDespiteOutages(outage(4), claim, END, lives)).rejects.toThrow('the database is away')
    expect((await stored(claim.id))?.finished_at).toBeNull()
  })

  it('is not tried again by a worker that has lost the round, before or meanwhile', async () => {
    const { uuid, claim } = await claimedSession(context)
    await expect(finishDespiteOutages(outage(1), claim, END, AbortSignal.abort())).rejects.toThrow(LeaseLost)
    await lapseLease(db.sql, claim.id)
    await claimOf(db.sql, uuid)
    const before = context.lines.length
    await expect(finishDespiteOutages(context, claim, END, lives)).rejects.toThrow(LeaseLost)
    expect(context.lines).toHaveLength(before)
  })

  it.each([
    ['none', undefined, null],
    ['one without texts', emptyResult(), null],
    ['one with a text', { ...emptyResult(), summary: 'Built.' }, { ...emptyResult(), summary: 'Built.' }],
    ['one with a list', { ...emptyResult(), notes: ['a\0'] }, { ...emptyResult(), notes: ['a'] }],
  ])('keeps the result of the round: %s', async (_, result, expected) => {
    const { claim } = await claimedSession(context)
    await finishRound(context, claim, { ...END, ...(result && { result }) })
    expect((await stored(claim.id))?.result).toEqual(expected)
  })
})

describe('the lease of a round', () => {
  it('is kept while the round runs, and tells of a cancellation until it is lost', async () => {
    const uuid = await createSession(context)
    const claim = await claimOf(db.sql, uuid)
    await db.sql`UPDATE rounds SET lease_until = clock_timestamp() + interval '1 s', cancel_requested_at = now(),
      cancelled_by = 'ada' WHERE id = ${claim.id}`
    const told: string[] = []
    const { signal, stop } = keepLease(db.sql, claim, context.log, (by) => told.push(by))
    await eventually(() => expect(told).toEqual(['ada']))
    const [row] =
      await db.sql`SELECT lease_until > clock_timestamp() + interval '3 s' AS kept FROM rounds WHERE id = ${claim.id}`
    expect([row?.kept, signal.aborted]).toEqual([true, false])
    await db.sql`UPDATE sessions SET fence = fence + 1 WHERE uuid = ${uuid}`
    await eventually(() => expect(signal.reason).toBeInstanceOf(LeaseLost))
    stop()
  })
})
