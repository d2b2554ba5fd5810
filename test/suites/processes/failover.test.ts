import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type RunningPostgres, startPostgres } from '../../../dev/postgres.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { connect } from '../../../src/data/db/pool.ts'
import { startSendingQueue } from '../../../src/data/queue.ts'
import { type CoreProcess, startCoreProcess } from '../../helpers/core-process.ts'
import { startCoreSurroundings } from '../../helpers/core-surroundings.ts'
import { createSession, verbContext } from '../../sessions/fixtures.ts'
import { endWorkerProcesses, startWorkerProcess } from './processes.ts'
import { addStandby, tell } from './standby.ts'

const closers: (() => Promise<unknown>)[] = []
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
  const url = primary.url.replace(/@[^/]+/, (host) => `${host},127.0.0.1:${standby.port}`)
  return { primary, standby, url: `${url}?target_session_attrs=read-write` }
}

async function startCore(url: string): Promise<CoreProcess> {
  const surroundings = await startCoreSurroundings()
  closers.push(surroundings.close)
  const core = await startCoreProcess({ ...surroundings.env, PLATFORM_SQL_DATABASE_URL: url })
  closers.push(async () => core.kill())
  return core
}

/** Reads a stream of statuses to its end. Returns the statuses. */
async function follow(core: CoreProcess, uuid: string): Promise<string[]> {
  const answer = await fetch(new URL(`/api/v1/events/subscribe/${uuid}`, core.ready.address))
  const text = await answer.text()
  return [...text.matchAll(/"status_msg":"(\w+)"/g)].map(([, status]) => status ?? '')
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
  const core = await startCore(url)
  const worker = await startWorkerProcess(url)
  const sql = connect(url)
  const queue = await startSendingQueue(sql, silentLogger)
  closers.push(async () => {
    await queue.close()
    await sql.end({ timeout: 1 })
  })
  const context = { ...verbContext({ sql }), queue }
  const first = await createSession(context, { query: 'gate' })
  const statuses = follow(core, first)
  await worker.said('running')

  await end(primary)
  await tell(standby, 'SELECT pg_promote()')

  await worker.said('gate open')
  // With the answer to this a server says that it is no primary any more, to which a notification may still be sent.
  await sql`SELECT 1`
  await sql.notify('gate', '')
  const seen = await statuses
  expect(seen.filter((status) => status === 'COMPLETED')).toHaveLength(1)
  const second = await createSession(context, { query: 'go' })
  expect((await follow(core, second)).at(-1)).toBe('COMPLETED')
  expect(worker.child.exitCode).toBeNull()
  const rounds = await sql`
    SELECT count(*) FILTER (WHERE st.status = 'completed') AS ends, count(*) FILTER (WHERE st.status = 'generating') AS runs,
           max(r.attempts) AS attempts, (SELECT count(*) FROM engine_plans p WHERE p.round_id = r.id) AS plans
    FROM rounds r JOIN statuses st ON st.round_id = r.id GROUP BY r.id ORDER BY r.id`
  for (const { ends, plans, runs, attempts } of rounds) expect([ends, plans, runs]).toEqual([1, 1, attempts])
  const [where] = await sql`SELECT current_setting('port')::int AS port`
  expect(where?.port).toBe(standby.port)
})
