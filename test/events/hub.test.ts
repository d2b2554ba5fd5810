import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { type EventHub, type SessionState, startEventHub } from '../../src/events/hub.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { findSession } from '../../src/sessions/find.ts'
import { eventually } from '../helpers/eventually.ts'
import { runRound } from '../helpers/sessions.ts'
import { createSession, createUser, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

/** Starts a hub whose resync is far away, so that everything arrives by notification. */
async function startHub(options: { resyncMs?: number; sql?: Sql } = {}): Promise<EventHub> {
  const hub = await startEventHub(options.sql ?? db.sql, silentLogger, { resyncMs: options.resyncMs ?? 3_600_000 })
  onTestFinished(() => hub.close())
  return hub
}

/** Collects the states that a watcher receives. */
function recorder() {
  const states: SessionState[] = []
  return {
    states,
    on_change: (state: SessionState) => void states.push(state),
    statuses: () => states.map(({ status }) => status),
  }
}

function counting(): { sql: Sql; queries: () => number } {
  let queries = 0
  const counted = new Proxy(db.sql, {
    apply(target, that, args) {
      queries++
      return Reflect.apply(target, that, args)
    },
  })
  return { sql: counted, queries: () => queries }
}

/** Waits for two answers of the server, after which all pending queries have been sent. */
const settled = async () => {
  await db.sql`SELECT 1`
  await db.sql`SELECT 1`
}

describe('watching', () => {
  let uuid: string
  beforeEach(async () => {
    uuid = await createSession(context)
  })

  it('answers the current state and then each change', async () => {
    const hub = await startHub()
    const seen = recorder()
    const watch = await hub.watch(uuid, seen.on_change)
    expect(watch.state).toEqual({ status: 'started', message: null, in_flight: true })
    const run = await runRound(context, uuid)
    await run.status('filtering', 'Reading the request')
    await eventually(() => expect(seen.statuses()).toEqual(['filtering']))
    await run.finish('completed', 'Done')
    await eventually(() =>
      expect(seen.states.at(-1)).toEqual({ status: 'completed', message: 'Done', in_flight: false }),
    )
  })

  it('never shows a terminal status together with the mark of the round that ended', async () => {
    const hub = await startHub()
    const seen = recorder()
    await hub.watch(uuid, seen.on_change)
    const run = await runRound(context, uuid)
    await run.finish('uncompleted', 'Declined')
    await acceptRound(context, { session_uuid: uuid, mode: 'generate', query: 'again', is_partial: false })
    // On a loaded machine one read may skip the end of the first round, so the second one has to show something new.
    await (await runRound(context, uuid)).status('filtering')
    await eventually(() => expect(seen.states.at(-1)?.status).toBe('filtering'))
    expect(seen.states.filter(({ status, in_flight }) => status === 'uncompleted' && in_flight)).toEqual([])
  })

  it('tells all watchers of a session with one query', async () => {
    const counted = counting()
    const hub = await startHub({ sql: counted.sql })
    const many = Array.from({ length: 50 }, recorder)
    await Promise.all(many.map((seen) => hub.watch(uuid, seen.on_change)))
    expect(hub.openStreams).toBe(50)
    expect(counted.queries()).toBeLessThanOrEqual(2)
    const before = counted.queries()
    await (await runRound(context, uuid)).status('generating', 'Writing')
    await eventually(() => expect(many.every((seen) => seen.statuses().includes('generating'))).toBe(true))
    expect(counted.queries() - before).toBe(1)
  })

  it('keeps sessions apart', async () => {
    const hub = await startHub()
    const other = await createSession(context)
    const [here, there] = [recorder(), recorder()]
    await hub.watch(uuid, here.on_change)
    await hub.watch(other, there.on_change)
    await (await runRound(context, other)).status('generating')
    await eventually(() => expect(there.statuses()).toEqual(['generating']))
    expect(here.states).toEqual([])
  })

  it('refuses an unknown session', async () => {
    const hub = await startHub()
    await expect(hub.watch(crypto.randomUUID(), () => {})).rejects.toMatchObject({ status: 404 })
    expect(hub.openStreams).toBe(0)
  })

  it('forgets who has left', async () => {
    const hub = await startHub()
    const [gone, stays] = [recorder(), recorder()]
    const watch = await hub.watch(uuid, gone.on_change)
    await hub.watch(uuid, stays.on_change)
    watch.close()
    watch.close()
    expect(hub.openStreams).toBe(1)
    await (await runRound(context, uuid)).status('filtering')
    await eventually(() => expect(stays.statuses()).toEqual(['filtering']))
    expect(gone.states).toEqual([])
  })
})

describe('faults', () => {
  it('mends a lost notification with one query for everything watched', async () => {
    const counted = counting()
    const uuids = await Promise.all([1, 2, 3].map(() => createSession(context)))
    const hub = await startHub({ sql: counted.sql, resyncMs: 100 })
    const all = uuids.map(() => recorder())
    await Promise.all(uuids.map((uuid, index) => hub.watch(uuid, (state) => all[index]?.on_change(state))))
    const before = counted.queries()
    await db.sql`UPDATE sessions SET last_status = 'report' WHERE uuid = ANY(${uuids}::uuid[])`
    await eventually(() => expect(all.map((seen) => seen.statuses())).toEqual([['report'], ['report'], ['report']]))
    expect(counted.queries() - before).toBeLessThanOrEqual(2)
  })

  it('mends lost notifications of more sessions than one query reads, in several', async () => {
    const counted = counting()
    const hub = await startHub({ sql: counted.sql, resyncMs: 300 })
    const uuids: string[] = []
    const { id: user_id } = await createUser(db.sql)
    for (let begun = 0; begun < 600; begun += 50)
      uuids.push(...(await Promise.all(Array.from({ length: 50 }, () => createSession(context, { user_id })))))
    const mended = new Set<string>()
    await Promise.all(uuids.map((uuid) => hub.watch(uuid, ({ status }) => status === 'report' && mended.add(uuid))))
    await db.sql`UPDATE sessions SET last_status = 'report' WHERE uuid = ANY(${uuids}::uuid[])`
    await eventually(() => expect(mended.size).toBe(600))
  })

  it('finds the sessions of streams that begin at the same time with few queries', async () => {
    const counted = counting()
    const hub = await startHub({ sql: counted.sql })
    const { id: user_id } = await createUser(db.sql)
    const known = await Promise.all(Array.from({ length: 20 }, () => createSession(context, { user_id })))
    const before = counted.queries()
    const asked = [...known, known[0]?.toUpperCase() ?? '', crypto.randomUUID()]
    const found = await Promise.all(asked.map((uuid) => hub.find(uuid)))
    expect(found.map((session) => session?.uuid ?? null)).toEqual([...known, known[0], null])
    expect(found[0]).toEqual(await findSession(db.sql, known[0] ?? ''))
    // Each builds its text from parts, which are calls as well.
    expect(counted.queries() - before).toBeLessThanOrEqual(8)
  })

  it('asks the database nothing while nobody watches', async () => {
    const counted = counting()
    const uuid = await createSession(context)
    const hub = await startHub({ sql: counted.sql, resyncMs: 1_000 })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const watch = await hub.watch(uuid, () => {})
      const first = counted.queries()
      vi.advanceTimersByTime(1_000)
      await settled()
      expect(counted.queries()).toBe(first + 1)
      watch.close()
      vi.advanceTimersByTime(10_000)
      await settled()
      expect(counted.queries()).toBe(first + 1)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('listens again after its connection was cut, and reads what it missed', async () => {
    const uuid = await createSession(context)
    const hub = await startHub()
    const seen = recorder()
    await hub.watch(uuid, seen.on_change)
    const run = await runRound(context, uuid)
    await db.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'`
    await run.status('generating', 'written while nobody listened')
    await eventually(() => expect(seen.statuses()).toContain('generating'))
    await run.status('validating')
    await eventually(() => expect(seen.statuses()).toContain('validating'))
  })

  it('ends with its abort signal', async () => {
    const hub = await startHub()
    const uuid = await createSession(context)
    const seen = recorder()
    await hub.watch(uuid, seen.on_change)
    await hub.close()
    expect(hub.closing.aborted).toBe(true)
    await (await runRound(context, uuid)).status('filtering')
    expect(seen.states).toEqual([])
  })
})
