import { afterAll, beforeAll, expect, it } from 'vitest'
import { finishRound } from '../../src/rounds/finish.ts'
import { sessionAggregateKey } from '../../src/rounds/session-facts.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { claimOf, createSession, verbContext } from './fixtures.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

const end = { status: 'completed', message: 'x', history: [], commit: null, usage: null } as const

/** Seconds for which a finished session stays in the cache; null when it is not kept. */
async function keptFor(lapse: Date | null): Promise<number | null> {
  const base = verbContext(db.sql)
  const context = { ...base, storage: { ...base.storage, urlsLapse: async () => lapse } }
  const uuid = await createSession(context)
  await finishRound(context, await claimOf(db.sql, uuid), end)
  await loadAggregate(context, uuid, { includeHistory: false })
  return context.cache.entries.get(sessionAggregateKey(uuid))?.ttl ?? null
}

it.each([
  ['for a day when nothing but their expiry ends the URLs', null, [86_400, 95_040]],
  ['for a day when the credentials outlive that', 30 * 86_400, [86_400, 95_040]],
  ['for half of what temporary credentials have left', 3_600, [1_700, 1_800]],
])('a finished session is kept %s', async (_name, seconds, [least = 0, most = 0]) => {
  const kept = await keptFor(seconds === null ? null : new Date(Date.now() + seconds * 1000))
  expect(kept).toBeGreaterThanOrEqual(least)
  expect(kept).toBeLessThanOrEqual(most)
})

it('a finished session is not kept when the credentials have lapsed', async () => {
  expect(await keptFor(new Date(Date.now() - 1000))).toBeNull()
})
