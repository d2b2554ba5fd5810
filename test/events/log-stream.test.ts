import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { type EventHub, startEventHub } from '../../src/events/hub.ts'
import { createLogStream } from '../../src/events/log-stream.ts'
import type { EventChannel } from '../../src/events/round-event.ts'
import { createStreamHost } from '../../src/events/sse-stream.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { eventually } from '../helpers/eventually.ts'
import { readStream } from '../helpers/sse.ts'
import { useEventLogs } from './support.ts'

const world = useEventLogs()

const FAR = 3_600_000
const began = (chain: string) => ({ type: 'chain.began', chain }) as const

interface Event {
  id: number
  round: number
  type: string
  chain?: string
  text?: string
  status?: string
}

/** Starts a core whose streams are opened as its routes do. */
async function startCore(options: { sql?: Sql; resyncMs?: number; wrap?: (hub: EventHub) => EventHub } = {}) {
  const sql = options.sql ?? world.db.sql
  const hub = await startEventHub(sql, silentLogger, { resyncMs: options.resyncMs ?? FAR })
  onTestFinished(() => hub.close())
  const host = createStreamHost((options.wrap ?? ((same) => same))(hub), FAR)
  const body = async (
    uuid: string,
    view: { channel?: EventChannel; round?: number; after?: number; maxPolls?: number } = {},
  ) => {
    const [row] = await world.db.sql<{ id: number }[]>`SELECT id FROM sessions WHERE uuid = ${uuid}`
    const session = { id: row?.id ?? 0, uuid }
    const { channel = 'activity', round = null, after, maxPolls = 100 } = view
    const start = await host.hub.start(session, channel, round)
    if (!start) throw new Error('no such round')
    const { head, cursor } = start
    const wanted = { session, channel, head, round, cursor: after ?? cursor }
    return createLogStream(host, wanted, { maxPolls, log: silentLogger, reader: null })
  }
  return { hub, host, body, open: async (...args: Parameters<typeof body>) => read(await body(...args)) }
}

/** Reads events. The frame with the end is one too. */
function read(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const stream = readStream(new Response(body))
  const next = async (): Promise<Event | null> => {
    for (let frame = await stream.frame(); frame !== null; frame = await stream.frame()) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (!data) continue
      const event = JSON.parse(data)
      if (/^event: end$/m.test(frame)) return { ...event, type: 'end' }
      expect(frame).toBe(`id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`)
      return event
    }
    return null
  }
  const rest = async () => {
    const events: Event[] = []
    for (let event = await next(); event !== null; event = await next()) events.push(event)
    return events
  }
  return { ...stream, next, rest }
}
const names = (events: (Event | null)[]) => events.map((event) => event?.chain ?? event?.status ?? event?.text)

function counting() {
  let readings = 0
  const sql = new Proxy(world.db.sql, {
    apply(target, that, args) {
      if (Array.isArray(args[0]) && args[0].join('').includes('CROSS JOIN LATERAL')) readings++
      return Reflect.apply(target, that, args)
    },
  })
  return { sql, readings: () => readings }
}

describe('a reader', () => {
  it('gets what happened so far, then each event, then the end', async () => {
    const core = await startCore()
    const { uuid, eventLog, finish } = await world.run()
    eventLog.activity(began('A'))
    eventLog.activity(began('B'))
    await eventually(async () => expect(await world.stored(uuid)).toHaveLength(2))
    const stream = await core.open(uuid)
    expect(names([await stream.next(), await stream.next()])).toEqual(['A', 'B'])
    eventLog.activity(began('C'))
    expect(await stream.next()).toMatchObject({ round: 1, type: 'chain.began', chain: 'C', at: expect.any(String) })
    eventLog.output({ type: 'step.began', step: 'plan', job_id: 'j' })
    eventLog.activity(began('D'))
    await eventLog.close()
    await finish('completed', 'Done')
    expect(names(await stream.rest())).toEqual(['D', 'completed'])
    await eventually(() => expect(core.hub.openStreams).toBe(0))
  })

  it('sees the other channel by itself', async () => {
    const core = await startCore()
    const { uuid, eventLog, finish } = await world.run()
    const stream = await core.open(uuid, { channel: 'output' })
    eventLog.activity(began('A'))
    eventLog.output({ type: 'lines', step: 'plan', job_id: 'j', stream: 'stdout', text: 'one\n' })
    expect(await stream.next()).toMatchObject({ type: 'lines', text: 'one\n', stream: 'stdout' })
    await eventLog.close()
    await finish('failed')
    expect(names(await stream.rest())).toEqual(['failed'])
  })

  it('resumes after an event, also in a later round', async () => {
    const core = await startCore()
    const first = await world.run()
    for (const chain of ['A', 'B', 'C']) first.eventLog.activity(began(chain))
    await first.eventLog.close()
    await first.finish('completed')
    const events = await (await core.open(first.uuid)).rest()
    expect(names(events)).toEqual(['A', 'B', 'C', 'completed'])
    const after = events[1]?.id
    expect(names(await (await core.open(first.uuid, { after })).rest())).toEqual(['C', 'completed'])

    await acceptRound(world.context, { session_uuid: first.uuid, mode: 'generate', query: 'more', is_partial: false })
    const second = await world.run({ uuid: first.uuid })
    second.eventLog.activity(began('D'))
    const resumed = await core.open(first.uuid, { after })
    expect(names([await resumed.next(), await resumed.next()])).toEqual(['C', 'D'])
    const fresh = await core.open(first.uuid)
    expect(names([await fresh.next()])).toEqual(['D'])
    await second.eventLog.close()
    await second.finish('uncompleted')
    expect(names(await resumed.rest())).toEqual(['uncompleted'])
    expect(names(await fresh.rest())).toEqual(['uncompleted'])
    const old = await core.open(first.uuid, { round: 1 })
    expect(names(await old.rest())).toEqual(['A', 'B', 'C', 'completed'])
  })

  it('of one round gets the end of that round while the next one runs', async () => {
    const core = await startCore()
    const first = await world.run()
    first.eventLog.activity(began('A'))
    const stream = await core.open(first.uuid, { round: 1 })
    expect(names([await stream.next()])).toEqual(['A'])
    await first.eventLog.close()
    await first.finish('completed')
    expect(names(await stream.rest())).toEqual(['completed'])
    await acceptRound(world.context, { session_uuid: first.uuid, mode: 'generate', query: 'more', is_partial: false })
    const second = await world.run({ uuid: first.uuid })
    second.eventLog.activity(began('B'))
    expect(names(await (await core.open(first.uuid, { round: 1 })).rest())).toEqual(['A', 'completed'])
    await second.eventLog.close()
  })

  it('of a round that has not begun waits for it', async () => {
    const core = await startCore()
    const uuid = await world.openSession()
    const stream = await core.open(uuid)
    const { eventLog, finish } = await world.run({ uuid })
    eventLog.activity(began('A'))
    expect(names([await stream.next()])).toEqual(['A'])
    await eventLog.close()
    await finish('completed')
    expect(names(await stream.rest())).toEqual(['completed'])
  })

  it('gets every event of many in order, with nothing lost before the end', async () => {
    const core = await startCore()
    const { uuid, eventLog, finish } = await world.run()
    const streams = await Promise.all(Array.from({ length: 5 }, () => core.open(uuid)))
    const all = Array.from({ length: 2_000 }, (_, index) => `C${index}`)
    const reading = Promise.all(streams.map((stream) => stream.rest()))
    for (const chain of all) eventLog.activity(began(chain))
    await eventLog.close()
    await finish('completed')
    for (const events of await reading) expect(names(events)).toEqual([...all, 'completed'])
  })
})

describe('many readers', () => {
  it('of one session cost one reading for a notification, and share its bytes', async () => {
    const counted = counting()
    const core = await startCore({ sql: counted.sql })
    const { uuid, eventLog } = await world.run()
    eventLog.activity(began('first'))
    const readers = await Promise.all(Array.from({ length: 200 }, async () => (await core.body(uuid)).getReader()))
    const until = async (name: string) => {
      const chunks = await Promise.all(
        readers.map(async (reader) => {
          for (;;) {
            const { value } = await reader.read()
            if (value && new TextDecoder().decode(value).includes(name)) return value
          }
        }),
      )
      return new Set(chunks.map((chunk) => chunk.buffer))
    }
    await until('first')
    const before = counted.readings()
    eventLog.activity(began('second'))
    expect((await until('second')).size).toBe(1)
    // None if a read that had already begun saw it.
    expect(counted.readings() - before).toBeLessThanOrEqual(1)
    for (const reader of readers) await reader.cancel()
    await eventually(() => expect(core.hub.openStreams).toBe(0))
  })

  it('on two cores get the same events', async () => {
    const cores = [await startCore(), await startCore()]
    const { uuid, eventLog, finish } = await world.run()
    const streams = await Promise.all(cores.map((core) => core.open(uuid)))
    eventLog.activity(began('A'))
    const [here, there] = await Promise.all(streams.map((stream) => stream.next()))
    expect(here).toEqual(there)
    await eventLog.close()
    await finish('completed')
    for (const stream of streams) expect(names(await stream.rest())).toEqual(['completed'])
  })
})

describe('a slow reader', () => {
  it('holds little memory, keeps nobody back and gets everything in the end', async () => {
    const core = await startCore()
    const { uuid, eventLog, finish } = await world.run()
    const slow = (await core.body(uuid, { channel: 'output' })).getReader()
    const quick = await core.open(uuid, { channel: 'output' })
    const texts = Array.from({ length: 300 }, (_, index) => `${index} ${`${'x'.repeat(99)}\n`.repeat(70)}`)
    const reading = quick.rest()
    for (const text of texts) eventLog.output({ type: 'lines', step: 'plan', job_id: 'j', stream: 'stdout', text })
    await eventLog.close()
    await finish('completed')
    expect(names(await reading).join('') === `${texts.join('')}completed`).toBe(true)
    // At most one page waits for the slow reader; two megabytes are in the database.
    const first = await slow.read()
    expect(new TextDecoder().decode(first.value)).toBe(': keepalive\n\n')
    const sizes: number[] = []
    let text = ''
    for (let chunk = await slow.read(); !chunk.done; chunk = await slow.read()) {
      sizes.push(chunk.value.byteLength)
      text += new TextDecoder().decode(chunk.value)
    }
    expect(Math.max(...sizes)).toBeLessThan(200_000)
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(ids).toHaveLength(300)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(text.endsWith('event: end\ndata: {"status":"completed"}\n\n')).toBe(true)
  })
})

describe('faults', () => {
  it('mends a lost notification', async () => {
    const core = await startCore({ resyncMs: 100 })
    const { uuid, round } = await world.run()
    const stream = await core.open(uuid)
    await world.db.sql`
      INSERT INTO round_events (session_id, round_id, channel, event)
      VALUES (${round.session.id}, ${round.id}, 'activity', ${JSON.stringify(began('silent'))}::jsonb)`
    expect(names([await stream.next()])).toEqual(['silent'])
    await stream.leave()
  })

  it('reads on after the connection that listens was cut', async () => {
    const core = await startCore()
    const { uuid, eventLog } = await world.run()
    const stream = await core.open(uuid)
    eventLog.activity(began('A'))
    expect(names([await stream.next()])).toEqual(['A'])
    await world.db.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE 'listen%'`
    eventLog.activity(began('B'))
    expect(names([await stream.next()])).toEqual(['B'])
    await stream.leave()
  })

  it('ends when the database cannot be read, so that the client connects again', async () => {
    const core = await startCore({
      wrap: (hub) => ({ ...hub, closing: hub.closing, page: () => Promise.reject(new Error('down')) }),
    })
    const { uuid, eventLog } = await world.run()
    eventLog.activity(began('A'))
    await eventually(async () => expect(await world.stored(uuid)).toHaveLength(1))
    expect(await (await core.open(uuid)).rest()).toEqual([])
    await eventually(() => expect(core.hub.openStreams).toBe(0))
  })

  it('ends without a last event when the core stops', async () => {
    const core = await startCore()
    const { uuid, eventLog } = await world.run()
    const stream = await core.open(uuid)
    eventLog.activity(began('A'))
    expect(names([await stream.next()])).toEqual(['A'])
    await core.hub.close()
    expect(await stream.rest()).toEqual([])
  })
})

describe('time', () => {
  it('sends a comment after 15 seconds of silence and ends after the configured number of polls', async () => {
    const core = await startCore()
    const { uuid } = await world.run()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      Object.assign(core.host, createStreamHost(core.hub, 5_000))
      const stream = await core.open(uuid, { maxPolls: 4 })
      expect(await stream.frame()).toBe(': keepalive\n\n')
      // Two timers of the hub, and that of the stream.
      await eventually(() => expect(vi.getTimerCount()).toBe(3))
      vi.advanceTimersByTime(15_000)
      expect(await stream.frame()).toBe(': keepalive\n\n')
      vi.advanceTimersByTime(10_000)
      expect(await stream.frame()).toBeNull()
      expect(core.hub.openStreams).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
