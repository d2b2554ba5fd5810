import { afterAll, beforeAll, expect, it } from 'vitest'
import { deleteOldEvents } from '../../src/events/log-rows.ts'
import { createEventWorld } from './support.ts'

let world: Awaited<ReturnType<typeof createEventWorld>>
beforeAll(async () => {
  world = await createEventWorld()
})
afterAll(() => world.close())

it('deletes events after thirty days, in batches, and keeps younger ones', async () => {
  const { uuid, round, eventLog } = await world.run()
  for (let index = 0; index < 25; index++) eventLog.activity({ type: 'chain.began', chain: `C${index}` })
  await eventLog.close()
  const context = { sql: world.sql, now: () => new Date() }
  const never = new AbortController().signal
  expect(await deleteOldEvents(context, never)).toBe(0)
  await world.sql`
    UPDATE round_events SET created_at = now() - interval '31 days'
    WHERE id IN (SELECT id FROM round_events WHERE round_id = ${round.id} ORDER BY id LIMIT 20)`
  expect(await deleteOldEvents(context, AbortSignal.abort(), 5)).toBe(0)
  expect(await deleteOldEvents(context, never, 5)).toBe(20)
  expect(await world.stored(uuid)).toHaveLength(5)
})
