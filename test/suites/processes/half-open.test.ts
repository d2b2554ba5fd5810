import { afterEach, it } from 'vitest'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { startRelay } from '../../helpers/relay.ts'
import { type Closers, startMoment } from './moment.ts'
import { endWorkerProcesses } from './processes.ts'

const closers: Closers = []
afterEach(async () => {
  endWorkerProcesses()
  for (const close of closers.splice(0).reverse()) await close()
})

it('all connections to the database go silent in the middle of a round: core, worker and an open stream go on', async () => {
  const database = await createTestDatabase()
  closers.push(database.drop)
  const relay = await startRelay(Number(new URL(database.url).port))
  closers.push(async () => relay.close())
  const moment = await startMoment(relay.before(database.url), closers, { ownUrl: database.url })
  relay.swallow()
  await moment.worker.said('gate open')
  await moment.expectWhole()
})
