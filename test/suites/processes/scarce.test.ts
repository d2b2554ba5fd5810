import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterEach, expect, it } from 'vitest'
import { isAlive, type RunningPostgres, startPostgres } from '../../../dev/postgres.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type Closers, startMoment } from './moment.ts'
import { endWorkerProcesses } from './processes.ts'

const run = promisify(execFile)
const MAX_CONNECTIONS = 30
const closers: Closers = []
afterEach(async () => {
  endWorkerProcesses()
  for (const close of closers.splice(0).reverse()) await close()
})

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-scarce-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Takes all connections of the server, also those that the platform has. The returned function gives them back. */
async function takeConnections({ url }: RunningPostgres): Promise<() => Promise<unknown>> {
  const taken: postgres.Sql[] = []
  const one = async () => {
    const driver = postgres(url, { max: 1, connection: { application_name: 'others' } })
    await driver`SELECT 1`
    taken.push(driver)
    return driver
  }
  const admin = await one()
  const left = async () =>
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'platform'`
  // While theirs are ended, because the platform takes each connection again that it finds free.
  for (let ended = 1; ended > 0; ) {
    const [theirs, ...tried] = await Promise.allSettled([left(), ...Array.from({ length: MAX_CONNECTIONS }, one)])
    if (theirs.status === 'rejected') throw theirs.reason
    for (const one of tried) if (one.status === 'rejected' && one.reason.code !== '53300') throw one.reason
    ended = theirs.value.length
  }
  return () => Promise.all(taken.map((driver) => driver.end()))
}

it('others take all connections in the middle of a round: core, worker and an open stream wait and go on', async () => {
  const server = await startPostgres({
    data_dir: join(await makeFolder(), 'data'),
    durable: false,
    settings: { max_connections: MAX_CONNECTIONS },
  })
  closers.push(server.stop)
  const moment = await startMoment(server.url, closers)
  const giveBack = await takeConnections(server)
  const refused = await moment.post('too early')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  await giveBack()
  expect(await moment.count()).toBe(1)
  await moment.expectWhole()
})

it('the disk of the database fills up in the middle of a round: core, worker and an open stream wait and go on', async (test) => {
  const folder = await makeFolder()
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  if (!mounted) return test.skip('no file system of a limited size can be mounted here')
  closers.push(() => run('umount', ['-l', folder]))
  await run('chmod', ['755', folder])
  const data_dir = join(folder, 'data')
  const server = { now: await startPostgres({ data_dir, durable: false }) }
  closers.push(() => server.now.stop())
  const large = () => randomBytes(300_000).toString('base64')
  const moment = await startMoment(server.now.url, closers, { query: `gate ${large()}` })
  const ballast = join(folder, 'ballast')
  await fill(ballast)
  const refused = await moment.post(large())
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  await moment.sql.notify('gate', '').catch(() => {})
  await moment.worker.said('the end of the round could not be written yet')
  await rm(ballast)
  // A server that could not write its log ends, and its operator starts it again.
  const { pid, port } = server.now
  if (!isAlive(pid)) server.now = await startPostgres({ data_dir, port, durable: false })
  await eventually(async () => expect(await moment.count()).toBe(1))
  await moment.expectWhole()
})

/** Writes a file until the file system has no room. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (const size of [1_048_576, 4_096])
      for (;;) if ((await file.write(Buffer.alloc(size, 1))).bytesWritten < size) break
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}
