import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSendingQueue, type RoundQueue } from '../../../src/data/queue.ts'
import { STATUS_CHANNEL } from '../../../src/rounds/transitions.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import type { SessionAggregate } from '../../../src/sessions/session-detail.ts'
import { eventually } from '../../helpers/eventually.ts'
import { jumpClock } from '../../helpers/jump-clock.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { createSession, lapseLease, verbContext } from '../../sessions/fixtures.ts'
import { endWorkerProcesses, startWorkerProcess } from './processes.ts'

let db: TestDatabase
let queue: RoundQueue
let context: ReturnType<typeof verbContext>
const rings = new Set<() => void>()
beforeAll(async () => {
  db = await createTestDatabase()
  queue = createSendingQueue(db.sql)
  context = { ...verbContext(db), queue }
  await db.sql.listen(STATUS_CHANNEL, () => {
    for (const ring of rings) ring()
  })
})
afterEach(endWorkerProcesses)
afterAll(async () => {
  await db.drop()
})

async function detail(uuid: string): Promise<SessionAggregate> {
  const session = await loadAggregate(context, uuid, { includeHistory: true })
  if (!session) throw new Error('no session')
  return session
}

/** Waits for the notification instead of a fixed time. */
async function ended(uuid: string): Promise<SessionAggregate> {
  for (;;) {
    let ring = () => {}
    const rung = new Promise<void>((resolve) => {
      ring = resolve
    })
    rings.add(ring)
    const session = await detail(uuid)
    if (!session.in_flight) return session
    await rung
    rings.delete(ring)
  }
}

const names = (session: SessionAggregate) => session.rounds[0]?.statuses.map((row) => row.status)
const roundRow = async (session: SessionAggregate) => {
  const [row] = await db.sql`SELECT attempts, handed_back FROM rounds WHERE id = ${session.rounds[0]?.id ?? 0}`
  return row
}
const roundId = async (uuid: string) => (await detail(uuid)).rounds[0]?.id ?? 0

describe('a worker that is killed in the middle of a round', () => {
  it('is replaced by another within the lease; nothing is written twice', async () => {
    const victim = await startWorkerProcess(db.url)
    const uuid = await createSession(context, { query: 'hang' })
    await victim.said('running')
    await startWorkerProcess(db.url)
    victim.child.kill('SIGKILL')
    const session = await ended(uuid)
    expect(names(session)).toEqual(['started', 'generating', 'started', 'generating', 'completed'])
    expect(session.rounds[0]?.plans.map((plan) => plan.url)).toEqual([expect.stringContaining('plan-2')])
    expect(session.history).toEqual([{ user: 'hang', assistant: 'done' }])
    expect(await roundRow(session)).toEqual({ attempts: 2, handed_back: 0 })
  })

  it('again and again fails the round, and the session is free', async () => {
    const uuid = await createSession(context, { query: 'hang hang hang hang' })
    for (let life = 1; life <= 2; life++) {
      const victim = await startWorkerProcess(db.url, '--restarts', '1')
      expect(await victim.said('running')).toMatchObject({ attempt: life })
      victim.child.kill('SIGKILL')
      await victim.exited
      await lapseLease(db.sql, await roundId(uuid))
    }
    await startWorkerProcess(db.url, '--restarts', '1')
    const session = await ended(uuid)
    expect(session.current_status).toBe('failed')
    expect(session.rounds[0]?.statuses.at(-1)?.message).toBe(
      'runner failed: the round was interrupted 2 times and is given up.',
    )
  })
})

describe('a worker that was asleep', () => {
  it('writes nothing when it wakes up after its round was taken', async () => {
    const sleeper = await startWorkerProcess(db.url)
    const uuid = await createSession(context, { query: 'hang' })
    await sleeper.said('running')
    sleeper.child.kill('SIGSTOP')
    await lapseLease(db.sql, await roundId(uuid))
    await startWorkerProcess(db.url)
    const session = await ended(uuid)
    expect(session.current_status).toBe('completed')
    sleeper.child.kill('SIGCONT')
    expect((await sleeper.said('aborted')).reason).toContain('LeaseLost')
    await sleeper.said('another worker has the round; nothing more is written')
    expect(await detail(uuid)).toEqual(session)
  })
})

describe('a worker that is asked to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('hands a long round back on %s', async (signal) => {
    const first = await startWorkerProcess(db.url)
    const uuid = await createSession(context, { query: 'hang' })
    await first.said('running')
    first.child.kill(signal)
    expect(await first.exited).toEqual({ code: 0, signal: null })
    const between = await detail(uuid)
    expect(between).toMatchObject({ in_flight: true, current_status: 'generating' })
    await startWorkerProcess(db.url)
    const session = await ended(uuid)
    expect(names(session)).toEqual(['started', 'generating', 'started', 'generating', 'completed'])
    expect(await roundRow(session)).toEqual({ attempts: 2, handed_back: 1 })
  })

  it('lets a short round finish', async () => {
    const worker = await startWorkerProcess(db.url, '--finish', '30000')
    const uuid = await createSession(context, { query: 'gate' })
    await worker.said('running')
    worker.child.kill('SIGTERM')
    await worker.said('stopping')
    await db.sql`SELECT pg_notify('gate', '')`
    expect(await worker.exited).toEqual({ code: 0, signal: null })
    const session = await detail(uuid)
    expect(names(session)).toEqual(['started', 'generating', 'completed'])
  })

  it('exits at once on a second signal, and the round goes on elsewhere', async () => {
    const stubborn = await startWorkerProcess(db.url, '--finish', '30000')
    const uuid = await createSession(context, { query: 'freeze' })
    await stubborn.said('running')
    stubborn.child.kill('SIGTERM')
    await stubborn.said('stopping')
    // The first one may be npm's echo; two of one kind could arrive as one.
    stubborn.child.kill('SIGINT')
    stubborn.child.kill('SIGTERM')
    expect(await stubborn.exited).toEqual({ code: 1, signal: null })
    await lapseLease(db.sql, await roundId(uuid))
    await startWorkerProcess(db.url)
    expect((await ended(uuid)).current_status).toBe('completed')
  })
})

describe('a round without a message in the queue', () => {
  it('is found and run', async () => {
    const uuid = await createSession(verbContext(db), { query: 'go' })
    await db.sql`UPDATE rounds SET created_at = created_at - interval '1 minute' WHERE id = ${await roundId(uuid)}`
    const worker = await startWorkerProcess(db.url)
    expect((await ended(uuid)).current_status).toBe('completed')
    expect(await worker.said('a round without a worker is queued again')).toMatchObject({
      round_id: await roundId(uuid),
    })
  })
})

describe('a clock of the database that jumps', () => {
  it('back by an hour: rounds of a dead worker and waiting ones run at once, the last of all in order', async () => {
    const victim = await startWorkerProcess(db.url)
    const taken = await createSession(context, { query: 'hang' })
    await victim.said('running')
    victim.child.kill('SIGKILL')
    await victim.exited
    const waiting = await createSession(context, { query: 'go' })
    await jumpClock(db.sql, -1)
    await startWorkerProcess(db.url)
    expect(names(await ended(waiting))).toEqual(['started', 'generating', 'completed'])
    const session = await ended(taken)
    expect(names(session)).toEqual(['started', 'generating', 'started', 'generating', 'completed'])
    expect(await roundRow(session)).toEqual({ attempts: 2, handed_back: 0 })
  })

  it('back by an hour: a living worker keeps its round', async () => {
    const worker = await startWorkerProcess(db.url)
    const uuid = await createSession(context, { query: 'gate' })
    await worker.said('running')
    await jumpClock(db.sql, -1)
    await eventually(async () =>
      expect(await db.sql`SELECT 1 FROM rounds WHERE lease_until > clock_timestamp() + interval '1 minute'`).toEqual(
        [],
      ),
    )
    await db.sql.notify('gate', '')
    expect(await roundRow(await ended(uuid))).toMatchObject({ attempts: 1 })
  })

  it('ahead by an hour: the round ends once, whether its worker keeps it or loses it', async () => {
    const workers = [await startWorkerProcess(db.url), await startWorkerProcess(db.url)]
    const uuid = await createSession(context, { query: 'gate' })
    await Promise.race(workers.map((worker) => worker.said('running')))
    await jumpClock(db.sql, 1)
    await eventually(async () =>
      expect(await db.sql`SELECT 1 FROM rounds WHERE finished_at IS NULL AND lease_until < clock_timestamp()`).toEqual(
        [],
      ),
    )
    await db.sql.notify('gate', '')
    const session = await ended(uuid)
    expect(names(session)?.filter((name) => name === 'completed')).toHaveLength(1)
    expect(session.history).toEqual([{ user: 'gate', assistant: 'done' }])
    expect(session.rounds[0]?.plans).toHaveLength(1)
  })
})
