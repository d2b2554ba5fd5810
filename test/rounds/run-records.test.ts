import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import {
  markImported,
  readImports,
  recordImport,
  recordRemoval,
  recordSelection,
} from '../../src/rounds/run-records.ts'
import { claimedSession, claimOf, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const claimed = () => claimedSession(context, { mode: 'import' })

describe('the record of an import round', () => {
  it('keeps the selection in order and what came of each entry', async () => {
    const { claim: round } = await claimed()
    const long = `arn:${'x'.repeat(4000)}`
    await recordSelection(db.sql, round, ['gone'])
    await recordSelection(db.sql, round, ['b "quoted", {}', long, 'NULL'])
    await recordImport(db.sql, round, { position: 1, address: 'a.b["x"]', commit: 'c1' })
    await markImported(db.sql, round, 1)
    expect(await readImports(db.sql, round)).toEqual([
      { position: 0, resource_id: 'b "quoted", {}', address: null, imported: false },
      { position: 1, resource_id: long, address: 'a.b["x"]', imported: true },
      { position: 2, resource_id: 'NULL', address: null, imported: false },
    ])
  })

  it('keeps what is taken out of the state again open: by its address before, without one afterwards', async () => {
    const { claim: round } = await claimed()
    await recordSelection(db.sql, round, ['a', 'b'])
    for (const position of [0, 1]) {
      await recordImport(db.sql, round, { position, address: `a.b[${position}]`, commit: 'c1' })
      await markImported(db.sql, round, position)
    }
    await recordRemoval(db.sql, round, { position: 0, address: 'a.b[0]' })
    await recordRemoval(db.sql, round, { position: 1, address: '' })
    expect(await readImports(db.sql, round)).toEqual([
      { position: 0, resource_id: 'a', address: 'a.b[0]', imported: false },
      { position: 1, resource_id: 'b', address: '', imported: false },
    ])
  })

  it('makes a round that is taken up again begin with the code that the state relies on', async () => {
    const { uuid, claim: round } = await claimed()
    await recordSelection(db.sql, round, ['a'])
    await recordImport(db.sql, round, { position: 0, address: 'a.b', commit: 'c2' })
    await db.sql`UPDATE rounds SET lease_until = NULL WHERE id = ${round.id}`
    const again = await claimOf(db.sql, uuid)
    expect(again).toMatchObject({ attempt: 2, base_commit: 'c2' })
    expect(await readImports(db.sql, again)).toHaveLength(1)
  })

  it('is closed to a worker that lost the round', async () => {
    const { claim: round } = await claimed()
    await recordSelection(db.sql, round, ['a'])
    await db.sql`UPDATE sessions SET fence = fence + 1 WHERE uuid = ${round.session.uuid}`
    await expect(recordSelection(db.sql, round, ['b'])).rejects.toThrow(LeaseLost)
    await expect(recordImport(db.sql, round, { position: 0, address: 'a.b', commit: 'c' })).rejects.toThrow(LeaseLost)
    await expect(markImported(db.sql, round, 0)).rejects.toThrow(LeaseLost)
    await expect(recordRemoval(db.sql, round, { position: 0, address: 'a.b' })).rejects.toThrow(LeaseLost)
    expect(await readImports(db.sql, round)).toEqual([
      { position: 0, resource_id: 'a', address: null, imported: false },
    ])
  })
})
