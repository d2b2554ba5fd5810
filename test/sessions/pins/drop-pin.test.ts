import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LeaseLost } from '../../../src/base/errors.ts'
import type { ClaimedRound } from '../../../src/rounds/round.ts'
import { findPin, removePin, type Seal, sealPin } from '../../../src/sessions/pins/seal.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { claimOf, createSession, lapseLease, verbContext } from '../fixtures.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

const SEAL: Omit<Seal, 'archive_key'> = {
  plan_sha256: 'a'.repeat(64),
  workspace_sha256: 'c'.repeat(64),
  commit: 'commit-1',
  targets: [],
  changes: [],
  engine: null,
  state: null,
  project_id: 'project-1',
}

/** A claimed round of a new session. */
async function claimed(): Promise<ClaimedRound> {
  const context = verbContext(db)
  return await claimOf(db.sql, await createSession(context))
}
const keyOf = async ({ session }: ClaimedRound) => (await findPin(db.sql, session.id))?.seal.archive_key

describe('removePin', () => {
  it("takes the session's own seal away and names its archive, never that of another session", async () => {
    const [first, second, third, unsealed] = [await claimed(), await claimed(), await claimed(), await claimed()]
    for (const [round, archive_key] of [
      [first, 'first.pin'],
      [second, 'second.pin'],
      [third, null],
    ] as const)
      expect(await sealPin(db.sql, round, { ...SEAL, archive_key })).toBeNull()
    expect(await removePin(db.sql, unsealed)).toBeNull()
    expect(await removePin(db.sql, third)).toBeNull()
    expect(await removePin(db.sql, second)).toBe('second.pin')
    expect(await Promise.all([first, second, third].map(keyOf))).toEqual(['first.pin', undefined, undefined])
    expect(await removePin(db.sql, second)).toBeNull()
  })

  it('leaves the seal to the worker that has the round now', async () => {
    const stale = await claimed()
    await sealPin(db.sql, stale, { ...SEAL, archive_key: 'kept.pin' })
    await lapseLease(db.sql, stale.id)
    await claimOf(db.sql, stale.session.uuid)
    await expect(removePin(db.sql, stale)).rejects.toBeInstanceOf(LeaseLost)
    expect(await keyOf(stale)).toBe('kept.pin')
  })
})
