import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningPostgres, startPostgres } from '../../../dev/postgres.ts'
import { migrate } from '../../../src/data/db/migrate.ts'
import { connect } from '../../../src/data/db/pool.ts'
import { createSendingQueue } from '../../../src/data/queue.ts'
import { STATUS_CHANNEL } from '../../../src/rounds/transitions.ts'
import { findSession } from '../../../src/sessions/find.ts'
import { createSession, verbContext } from '../../sessions/fixtures.ts'
import { endWorkerProcesses, startWorkerProcess } from './processes.ts'

let folder: string
let server: RunningPostgres
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-restart-'))
  server = await startPostgres({ data_dir: join(folder, 'data'), durable: false })
})
afterAll(async () => {
  endWorkerProcesses()
  await server.stop()
  await rm(server.data_dir, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
})

describe('a database that restarts in the middle of a round', () => {
  it('is found again by sender, worker and listeners; the round ends and the next one runs', async () => {
    const sql = connect(server.url)
    await migrate(sql)
    const queue = createSendingQueue(sql)
    const context = { ...verbContext({ sql }), queue }
    let ring = () => {}
    await sql.listen(
      STATUS_CHANNEL,
      () => ring(),
      () => ring(),
    )
    const ended = async (uuid: string) => {
      for (;;) {
        const rung = new Promise<void>((resolve) => {
          ring = resolve
        })
        const session = await findSession(sql, uuid)
        if (session && !session.in_flight) return session
        await rung
      }
    }
    const worker = await startWorkerProcess(server.url)
    const first = await createSession(context, { query: 'gate gate gate' })
    await worker.said('running')
    const { port, data_dir } = server
    await server.stop()
    server = await startPostgres({ data_dir, port, durable: false })
    await worker.said('gate open')
    await sql.notify('gate', '')
    expect((await ended(first)).current_status).toBe('completed')
    const second = await createSession(context, { query: 'go' })
    expect((await ended(second)).current_status).toBe('completed')
    expect(worker.child.exitCode).toBeNull()
    await sql.end({ timeout: 1 })
  })
})
