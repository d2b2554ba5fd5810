import { afterEach, expect, it } from 'vitest'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { startRelay } from '../../helpers/relay.ts'
import { type Closers, startMoment } from './moment.ts'
import { endWorkerProcesses } from './processes.ts'

const closers: Closers = []
afterEach(async () => {
  endWorkerProcesses()
  for (const close of closers.splice(0).reverse()) await close()
})

async function startBehindRelay() {
  const database = await createTestDatabase()
  closers.push(database.drop)
  const relay = await startRelay(Number(new URL(database.url).port))
  closers.push(async () => relay.close())
  return { relay, moment: await startMoment(relay.before(database.url), closers, { ownUrl: database.url }) }
}

it('all connections to the database go silent in the middle of a round: core, worker and an open stream go on', async () => {
  const { relay, moment } = await startBehindRelay()
  relay.swallow()
  await moment.worker.said('gate open')
  await moment.expectWhole()
})

it('answers to COMMIT get lost: each request is accepted once, and each round ends once', async () => {
  const { relay, moment } = await startBehindRelay()
  for (let round = 2; round <= 6; round++) {
    const cut = relay.cutAt('COMMIT', true)
    const answer = await moment.post('go')
    expect(answer.status).toBe(202)
    await cut
    expect((await moment.follow()).at(-1)).toBe('COMPLETED')
    expect(await moment.count()).toBe(round)
  }
  await moment.expectWhole()
})
