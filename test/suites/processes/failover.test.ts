import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type RunningPostgres, startPostgres } from '../../../dev/postgres.ts'
import { type Closers, startMoment } from './moment.ts'
import { endWorkerProcesses } from './processes.ts'
import { addStandby, tell } from './standby.ts'

const closers: Closers = []
afterEach(async () => {
  endWorkerProcesses()
  for (const close of closers.splice(0).reverse()) await close()
})

async function startPair() {
  const folder = await mkdtemp(join(tmpdir(), 'platform-failover-'))
  const primary = await startPostgres({ data_dir: join(folder, 'data') })
  const standby = await addStandby(primary)
  closers.push(async () => {
    for (const server of [primary, standby]) {
      await server.stop()
      await rm(server.data_dir, { recursive: true, force: true })
    }
    await rm(folder, { recursive: true, force: true })
  })
  return { primary, standby, url: primary.url.replace(/@[^/]+/, (host) => `${host},127.0.0.1:${standby.port}`) }
}

/** A server that goes away at once, and one that another takes over from while its connections stay open. */
const ENDS: [string, (primary: RunningPostgres) => Promise<unknown>][] = [
  ['is killed', async ({ pid }) => process.kill(pid, 'SIGQUIT')],
  [
    'takes no more writes',
    (primary) => tell(primary, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()'),
  ],
]

it.each(
  ENDS,
)('a primary %s in the middle of a round: core, worker and an open stream go on at the new one', async (_, end) => {
  const { primary, standby, url } = await startPair()
  const moment = await startMoment(url, closers)

  await end(primary)
  await tell(standby, 'SELECT pg_promote()')

  await moment.worker.said('gate open')
  await moment.expectWhole()
  const [where] = await moment.sql`SELECT current_setting('port')::int AS port`
  expect(where?.port).toBe(standby.port)
})
