import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { connect } from '../../src/data/db/pool.ts'
import { STOPPING, startSendingQueue, startWorkingQueue } from '../../src/data/queue.ts'
import { eventually } from '../helpers/eventually.ts'
import { jumpClock } from '../helpers/jump-clock.ts'
import { createEmptyDatabase, provideDatabase } from '../helpers/postgres.ts'
import { startOnce } from '../helpers/start-once.ts'
import { untilAborted } from '../helpers/until-aborted.ts'

const working: Awaited<ReturnType<typeof startWorkingQueue>>[] = []
const unfinished: (() => void)[] = []
const db = provideDatabase()
const sending = startOnce(() => startSendingQueue(db.sql, silentLogger))
afterEach(async () => {
  for (const finish of unfinished.splice(0)) finish()
  await Promise.all(working.splice(0).map((queue) => queue.stop({ finishMs: 0, handBackMs: 1_000 })))
  await db.sql`DELETE FROM pgboss.job`
})

/** Creates a handler whose calls wait until they are released, at the latest at the end of the test. */
function handler() {
  const calls: { round_id: number; signal: AbortSignal; finish: () => void }[] = []
  const handle = (round_id: number, signal: AbortSignal) =>
    new Promise<void>((finish) => {
      calls.push({ round_id, signal, finish })
      unfinished.push(finish)
    })
  const reached = (count: number) => eventually(() => expect(calls.length).toBeGreaterThanOrEqual(count))
  return { calls, handle, reached }
}

async function work(handle: (round_id: number, signal: AbortSignal) => Promise<void>, concurrency = 2) {
  const queue = await startWorkingQueue(db.sql, silentLogger, { concurrency, handle })
  working.push(queue)
  return queue
}

const send = (round_id: number) => db.sql.begin((tx) => sending.enqueue(tx, round_id))
const states = async () =>
  (await db.sql`SELECT state::text FROM pgboss.job ORDER BY created_on`).map((row) => row.state)

describe('the queue of rounds', () => {
  it('delivers what was committed, and nothing else', async () => {
    const { calls, handle, reached } = handler()
    await work(handle)
    await expect(
      db.sql.begin(async (tx) => {
        await sending.enqueue(tx, 1)
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    await send(2)
    await reached(1)
    expect(calls.map((call) => call.round_id)).toEqual([2])
  })

  it('holds one waiting message for each round', async () => {
    for (let times = 0; times < 3; times++) await send(7)
    await send(8)
    expect(await states()).toEqual(['created', 'created'])
  })

  it('takes a message for a round that is running', async () => {
    const { calls, handle, reached } = handler()
    await work(handle)
    await send(7)
    await reached(1)
    await send(7)
    await reached(2)
    expect(calls.map((call) => call.round_id)).toEqual([7, 7])
  })

  it('runs as many at a time as it was told', async () => {
    const { calls, handle, reached } = handler()
    await work(handle, 2)
    for (const id of [1, 2, 3]) await send(id)
    await reached(2)
    expect(await states()).toContain('created')
    expect(calls).toHaveLength(2)
    calls[0]?.finish()
    await reached(3)
  })

  it('offers a round again whose handler was rejected', async () => {
    const { calls, handle, reached } = handler()
    let first = true
    await work((round_id, signal) => {
      if (!first) return handle(round_id, signal)
      first = false
      return Promise.reject(new Error('no database'))
    })
    await send(9)
    await reached(1)
    expect(calls.map((call) => call.round_id)).toEqual([9])
  })

  it('delivers what was sent before the clock of the database went back', async () => {
    await send(9)
    await jumpClock(db.sql, -1)
    const { handle, reached } = handler()
    await work(handle)
    await reached(1)
  })

  it('waits for running rounds before it stops, then aborts them', async () => {
    const { calls, handle, reached } = handler()
    const queue = await work(handle)
    await send(1)
    await send(2)
    await reached(2)
    const [short, long] = calls
    const stopped = queue.stop({ finishMs: 200, handBackMs: 30_000 })
    short?.finish()
    if (long) await untilAborted(long.signal)
    expect(long?.signal.reason).toBe(STOPPING)
    long?.finish()
    await stopped
    working.splice(0)
  })

  it('takes nothing once it stopped', async () => {
    const { calls, handle } = handler()
    const queue = await work(handle)
    await queue.stop({ finishMs: 0, handBackMs: 0 })
    working.splice(0)
    await send(5)
    expect(calls).toEqual([])
    // A fetch that was under way at the stop hands the message back.
    expect(['created', 'retry']).toEqual(expect.arrayContaining(await states()))
    expect(await states()).toHaveLength(1)
  })

  it('is healthy while the database answers', async () => {
    expect(await sending.healthy()).toBe(true)
  })

  it('starts in many processes at once on an empty database', async () => {
    const url = await createEmptyDatabase(db)
    const pools = Array.from({ length: 4 }, () => connect(url, { max: 3 }))
    const queues = await Promise.all(pools.map((sql) => startSendingQueue(sql, silentLogger)))
    expect(await Promise.all(queues.map((queue) => queue.healthy()))).toEqual([true, true, true, true])
    await Promise.all(queues.map((queue) => queue.close()))
    await Promise.all(pools.map((sql) => sql.end()))
  })
})
