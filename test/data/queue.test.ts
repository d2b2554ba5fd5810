import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { migrate } from '../../src/data/db/migrate.ts'
import { connect } from '../../src/data/db/pool.ts'
import { createSendingQueue, STOPPING, startWorkingQueue } from '../../src/data/queue.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { eventually } from '../helpers/eventually.ts'
import { jumpClock } from '../helpers/jump-clock.ts'
import { createEmptyDatabase } from '../helpers/postgres.ts'
import { untilAborted } from '../helpers/until-aborted.ts'
import { createSession, createUser, END, lapseLease, useVerbs } from '../sessions/fixtures.ts'

const working: Awaited<ReturnType<typeof startWorkingQueue>>[] = []
const unfinished: (() => void)[] = []
const { db, context } = useVerbs()
const queueing = () => ({ ...context, queue: createSendingQueue(db.sql) })
afterEach(async () => {
  for (const finish of unfinished.splice(0)) finish()
  await Promise.all(working.splice(0).map((queue) => queue.stop({ finishMs: 0, handBackMs: 1_000 })))
  await db.sql`UPDATE rounds SET finished_at = now()`
  await db.sql`DELETE FROM queued_rounds`
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
  return { calls, handle, reached, ids: () => calls.map((call) => call.round_id) }
}

async function work(handle: (round_id: number, signal: AbortSignal) => Promise<void>, concurrency = 2, sql = db.sql) {
  const queue = await startWorkingQueue(sql, silentLogger, { concurrency, handle })
  working.push(queue)
  return queue
}

/** Accepts a round and returns its id. */
async function accept(user_id?: number): Promise<number> {
  const uuid = await createSession(queueing(), user_id === undefined ? {} : { user_id })
  const [row] = await db.sql<{ id: number }[]>`
    SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
  return row?.id ?? 0
}
const acceptMany = async (count: number, user_id: number) => {
  const ids: number[] = []
  for (let index = 0; index < count; index++) ids.push(await accept(user_id))
  return ids
}
const send = (round_id: number) => db.sql.begin((tx) => queueing().queue.enqueue(tx, round_id))
const waiting = async () =>
  (await db.sql<{ round_id: number }[]>`SELECT round_id FROM queued_rounds WHERE taken_at IS NULL`).map(
    (row) => row.round_id,
  )

/** Ends each round as soon as it is taken, like a worker with the shortest of rounds. Lists them in their order. */
function finisher() {
  const taken: number[] = []
  const handle = async (round_id: number) => {
    const claim = await claimForRun(db.sql, round_id)
    if (!claim) return
    taken.push(round_id)
    await finishRound(queueing(), claim, END)
  }
  return { taken, handle }
}

describe('the queue of rounds', () => {
  it('delivers what was committed, and nothing else', async () => {
    const { handle, reached, ids } = handler()
    await work(handle)
    const enqueue = async (): Promise<void> => Promise.reject(new Error('changed my mind'))
    const failing = { ...context, queue: { ...context.queue, enqueue } }
    await expect(createSession(failing)).rejects.toThrow('changed my mind')
    const id = await accept()
    await reached(1)
    expect(ids()).toEqual([id])
  })

  it('holds one entry for each round', async () => {
    const id = await accept()
    for (let times = 0; times < 3; times++) await send(id)
    expect(await waiting()).toEqual([id])
  })

  it('offers a round that is running when it is sent again', async () => {
    const { handle, reached, ids } = handler()
    await work(handle)
    const id = await accept()
    await reached(1)
    await send(id)
    await reached(2)
    expect(ids()).toEqual([id, id])
  })

  it('runs as many at a time as it was told', async () => {
    const { calls, handle, reached } = handler()
    await work(handle, 2)
    for (let times = 0; times < 3; times++) await accept()
    await reached(2)
    expect(await waiting()).toHaveLength(1)
    expect(calls).toHaveLength(2)
    calls[0]?.finish()
    await reached(3)
  })

  it('offers a round again whose handler was rejected', async () => {
    const { handle, reached, ids } = handler()
    let first = true
    await work(async (round_id, signal) => {
      if (!first) return handle(round_id, signal)
      first = false
      await claimForRun(db.sql, round_id)
      await lapseLease(db.sql, round_id)
      throw new Error('no database')
    })
    const id = await accept()
    await reached(1)
    expect(ids()).toEqual([id])
  })

  it('offers a round again that was taken and not claimed', async () => {
    const id = await accept()
    await db.sql`UPDATE queued_rounds SET taken_at = clock_timestamp() - interval '1 minute' WHERE round_id = ${id}`
    const { handle, reached, ids } = handler()
    await work(handle)
    await reached(1)
    expect(ids()).toEqual([id])
  })

  it('leaves a round alone that a worker holds', async () => {
    const held = await accept()
    await db.sql`UPDATE queued_rounds SET taken_at = clock_timestamp() - interval '1 minute' WHERE round_id = ${held}`
    await db.sql`UPDATE rounds SET lease_until = clock_timestamp() + interval '1 minute' WHERE id = ${held}`
    const dead = await accept()
    await db.sql`UPDATE queued_rounds SET taken_at = clock_timestamp() - interval '1 minute' WHERE round_id = ${dead}`
    const { handle, reached, ids } = handler()
    await work(handle)
    await reached(1)
    expect(ids()).toEqual([dead])
  })

  it('finds a round that a version before accepted, without an entry', async () => {
    const uuid = await createSession(context)
    await db.sql`UPDATE rounds SET created_at = rounds.created_at - interval '1 minute' FROM sessions s
                 WHERE s.id = session_id AND s.uuid = ${uuid}`
    const { handle, reached } = handler()
    await work(handle)
    await reached(1)
  })

  it('delivers what was sent or taken before the clock of the database went back', async () => {
    const first = await accept()
    const second = await accept()
    await db.sql`UPDATE queued_rounds SET taken_at = clock_timestamp() WHERE round_id = ${second}`
    await jumpClock(db.sql, -1)
    const { handle, reached, ids } = handler()
    await work(handle)
    await reached(2)
    expect(ids()).toEqual([first, second])
  })

  it('removes the entries of rounds that have ended', async () => {
    const { taken, handle } = finisher()
    await work(handle)
    const id = await accept()
    await eventually(() => expect(taken).toEqual([id]))
    await eventually(async () => expect(await db.sql`SELECT 1 FROM queued_rounds`).toHaveLength(0))
  })

  it('waits for running rounds before it stops, then aborts them', async () => {
    const { calls, handle, reached } = handler()
    const queue = await work(handle)
    await accept()
    await accept()
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
    const id = await accept()
    expect(calls).toEqual([])
    expect(await waiting()).toEqual([id])
  })

  it('is healthy while the database answers and its tables are there', async () => {
    expect(await queueing().queue.healthy()).toBe(true)
    const empty = connect(await createEmptyDatabase(db), { max: 1 })
    expect(await createSendingQueue(empty).healthy()).toBe(false)
    await migrate(empty)
    expect(await createSendingQueue(empty).healthy()).toBe(true)
    await empty.end()
  })
})

describe('users', () => {
  it('take turns: the first round of one is next, however many of another wait', async () => {
    const [busy, other] = [await createUser(db.sql), await createUser(db.sql)]
    const many = await acceptMany(2, busy.id)
    await Promise.all(Array.from({ length: 498 }, () => accept(busy.id)))
    const { calls, handle, reached, ids } = handler()
    await work(handle, 2)
    await reached(2)
    const first = await accept(other.id)
    calls[0]?.finish()
    await reached(3)
    expect(ids()).toEqual([many[0], many[1], first])
  })

  it('get a round each in turn, with one place to run them', async () => {
    const [busy, other, third] = [await createUser(db.sql), await createUser(db.sql), await createUser(db.sql)]
    const { calls, handle, reached, ids } = handler()
    const [a1, a2, a3] = await acceptMany(3, busy.id)
    await work(handle, 1)
    await reached(1)
    const [b1, b2] = await acceptMany(2, other.id)
    const c1 = await accept(third.id)
    for (let count = 2; count <= 6; count++) {
      calls.at(-1)?.finish()
      await reached(count)
    }
    expect(ids()).toEqual([a1, b1, c1, a2, b2, a3])
  })

  it('do not pass one who waits by sending one round after the other', async () => {
    const [patient, quick] = [await createUser(db.sql), await createUser(db.sql)]
    const many = await acceptMany(3, patient.id)
    const { calls, handle, reached, ids } = handler()
    await work(handle, 1)
    await reached(1)
    const order: number[] = []
    for (let count = 2; count <= 6; count++) {
      order.push(await accept(quick.id))
      calls.at(-1)?.finish()
      await reached(count)
    }
    const place = (id = 0) => ids().indexOf(id)
    expect(place(many[1])).toBeLessThan(place(order[1]))
    expect(place(many[2])).toBeLessThan(place(order[2]))
  })

  it('do not gather claims by sending nothing for a while', async () => {
    const [old, idle] = [await createUser(db.sql), await createUser(db.sql)]
    await accept(idle.id)
    const { taken, handle } = finisher()
    await acceptMany(30, old.id)
    const queue = await work(handle, 1)
    await eventually(() => expect(taken).toHaveLength(31))
    await queue.stop({ finishMs: 1_000, handBackMs: 0 })
    working.splice(0)
    const late = await acceptMany(3, idle.id)
    const own = await acceptMany(3, old.id)
    const after = finisher()
    await work(after.handle, 1)
    await eventually(() => expect(after.taken).toHaveLength(6))
    expect(after.taken.indexOf(own[0] ?? 0)).toBeLessThan(after.taken.indexOf(late[2] ?? 0))
  })

  it('wait behind a round that was interrupted', async () => {
    const user = await createUser(db.sql)
    const [first, second] = await acceptMany(2, user.id)
    await db.sql`UPDATE queued_rounds SET taken_at = clock_timestamp() WHERE round_id = ${second ?? 0}`
    await send(second ?? 0)
    const { taken, handle } = finisher()
    await work(handle, 1)
    await eventually(() => expect(taken).toEqual([second, first]))
  })

  it('who send many requests at the same time get a turn for each', async () => {
    const user = await createUser(db.sql)
    await Promise.all(Array.from({ length: 20 }, () => accept(user.id)))
    const turns = await db.sql`SELECT DISTINCT turn FROM queued_rounds`
    expect(turns).toHaveLength(20)
  })
})

describe('several workers', () => {
  it('run every round once', async () => {
    const users = await Promise.all(Array.from({ length: 5 }, () => createUser(db.sql)))
    const ids = await Promise.all(Array.from({ length: 100 }, (_, index) => accept(users[index % 5]?.id)))
    const offered: number[] = []
    const pools = [connect(db.url, { max: 4 }), connect(db.url, { max: 4 })]
    for (const sql of pools)
      await work(
        async (round_id) => {
          offered.push(round_id)
          const claim = await claimForRun(sql, round_id)
          if (claim) await finishRound(queueing(), claim, END)
        },
        10,
        sql,
      )
    await eventually(() => expect(offered.length).toBeGreaterThanOrEqual(100))
    await Promise.all(working.splice(0).map((queue) => queue.stop({ finishMs: 5_000, handBackMs: 1_000 })))
    await Promise.all(pools.map((sql) => sql.end()))
    expect([...offered].sort((a, b) => a - b)).toEqual([...ids].sort((a, b) => a - b))
    expect(await db.sql`SELECT 1 FROM rounds WHERE finished_at IS NULL OR attempts <> 1 AND attempts <> 0`).toEqual([])
  })
})
