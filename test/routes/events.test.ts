import { connect } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { openEventLog } from '../../src/events/event-log.ts'
import { type Activity, ActivitySchema, type EngineOutput, OutputSchema } from '../../src/events/round-event.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { createTestCore, refusalOf } from '../helpers/core.ts'
import { DOCUMENT } from '../helpers/described.ts'
import { eventually } from '../helpers/eventually.ts'
import { listen } from '../helpers/listen.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { readStream } from '../helpers/sse.ts'
import { startOnce } from '../helpers/start-once.ts'

const core = startOnce(async () => {
  const started = await createTestCore()
  const server = await listen(started.app)
  const me: number = (await (await started.call('GET', '/api/v1/users/me')).json()).id
  const close = async () => {
    await started.context.events.close()
    await server.close(1_000)
    await started.close()
  }
  return { ...started, server, me, close }
})
let uuid: string
beforeEach(async () => {
  uuid = await openSession(core.context, core.me)
})

const path = (id = uuid) => `/api/v1/events/subscribe/${id}`
const subscribe = async (id = uuid, base = core.server.url) => {
  const response = await fetch(base + path(id))
  expect(response.status).toBe(200)
  return readStream(response)
}
const event = (status_msg: string, message = '') => ({ status_msg, detail: { message } })
const openStreams = () => core.context.events.openStreams

describe('the connection', () => {
  it('has the headers of an event stream', async () => {
    const response = await fetch(core.server.url + path())
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    })
    await readStream(response).leave()
  })

  it('begins with a comment and goes on with data lines alone', async () => {
    const run = await runRound(core.context, uuid)
    await run.finish('completed', 'Done')
    const stream = await subscribe()
    expect(await stream.frame()).toBe(': keepalive\n\n')
    expect(await stream.frame()).toBe('data: {"status_msg":"COMPLETED","detail":{"message":"Done"}}\n\n')
    expect(await stream.frame()).toBeNull()
  })

  it('sends its first bytes while the database is busy', async () => {
    const never = {
      ...core.context.events,
      closing: core.context.events.closing,
      watch: () => new Promise<never>(() => {}),
    }
    const slow = await listen(await core.another({ context: { events: never } }))
    const stream = await subscribe(uuid, slow.url)
    expect(await stream.frame()).toBe(': keepalive\n\n')
    await stream.leave()
    await slow.close(100)
  })

  it('answers 422 as a plain error', async () => {
    expect(await refusalOf(core.call('GET', path('not-a-uuid')))).toMatchObject([
      422,
      [{ type: 'uuid_parsing', loc: ['path', 'session_id'] }],
    ])
  })
})

describe('what it tells', () => {
  it('follows a round from its acceptance to its end', async () => {
    const stream = await subscribe()
    expect(await stream.event()).toEqual(event('STARTED'))
    const run = await runRound(core.context, uuid)
    for (const [status, message] of [
      ['filtering', 'Reading'],
      ['generating', 'Writing "code" \\ here\nand there'],
      ['validating', null],
    ] as const) {
      await run.status(status, message)
      expect(await stream.event()).toEqual(event(status.toUpperCase(), (message ?? '').replaceAll('"', '')))
    }
    await run.finish('uncompleted', 'Declined')
    expect(await stream.rest()).toEqual([event('UNCOMPLETED', 'Declined')])
    await eventually(() => expect(openStreams()).toBe(0))
  })

  it.each([
    'completed',
    'uncompleted',
    'failed',
  ] as const)('ends a late subscription to a %s session with that status', async (status) => {
    await (await runRound(core.context, uuid)).finish(status, 'over')
    const stream = await subscribe()
    expect(await stream.rest()).toEqual([event(status.toUpperCase(), 'over')])
  })

  it('allows a follow-up the moment the end is seen', async () => {
    const stream = await subscribe()
    await stream.event()
    await (await runRound(core.context, uuid)).finish('completed', 'first')
    expect(await stream.event()).toEqual(event('COMPLETED', 'first'))
    await acceptRound(core.context, { session_uuid: uuid, mode: 'generate', query: 'next', is_partial: false })
    expect((await runRound(core.context, uuid)).round.number).toBe(2)
  })
})

describe('the ways it ends', () => {
  it('frees everything when the client goes away', async () => {
    const socket = connect(Number(new URL(core.server.url).port), '127.0.0.1')
    socket.write(`GET ${path()} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await eventually(() => expect(openStreams()).toBe(1))
    socket.destroy()
    await eventually(() => expect(openStreams()).toBe(0))
  })

  it('frees everything when the client goes away before its first state is read', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let closed = 0
    const events = {
      ...core.context.events,
      closing: core.context.events.closing,
      watch: async () => {
        await promise
        return { state: { status: 'started' as const, message: null, in_flight: true }, close: () => void closed++ }
      },
    }
    const app = await core.another({ context: { events } })
    const stream = readStream(await app.request(path()))
    await stream.frame()
    await stream.leave()
    resolve()
    await eventually(() => expect(closed).toBe(1))
  })

  it('ends its streams when the process stops, so that clients connect again', async () => {
    const second = await createTestCore()
    const id = await openSession(second.context, (await (await second.call('GET', '/api/v1/users/me')).json()).id)
    const stream = readStream(await second.app.request(path(id)))
    expect(await stream.event()).toEqual(event('STARTED'))
    await second.context.events.close()
    expect(await stream.rest()).toEqual([])
    expect(await readStream(await second.app.request(path(id))).rest()).toEqual([])
    await second.close()
  })
})

const pathOf = (stream: string, query = '') => `/api/v1/events/${stream}/${uuid}${query}`
const open = async (stream: string, query = '', headers: Record<string, string> = {}) => {
  const response = await fetch(core.server.url + pathOf(stream, query), { headers })
  expect(response.status).toBe(200)
  return readStream(response)
}
/** Reads the events of a frame's lines, without comments. */
async function rest(stream: ReturnType<typeof readStream>) {
  const events: Record<string, unknown>[] = []
  for (let frame = await stream.frame(); frame !== null; frame = await stream.frame()) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? []
    if (data) events.push({ event: name, ...JSON.parse(data) })
  }
  return events
}
async function start() {
  const run = await runRound(core.context, uuid)
  const eventLog = openEventLog(core.database.sql, run.round, { log: silentLogger, mask: (text) => text })
  const end = async (status: 'completed' | 'failed' = 'completed') => {
    await eventLog.close()
    await run.finish(status)
  }
  return { eventLog, end }
}

/** One event of each kind. */
const ACTIVITIES: Activity[] = [
  { type: 'attempt.began', attempt: 1, max_attempts: 5, task: 'generate', reason: null },
  { type: 'chain.began', chain: 'C' },
  { type: 'chain.ended', chain: 'C', outcome: 'ok', seconds: 1.5 },
  { type: 'tool.called', chain: 'C', tool: 't', path: 'main.tf', outcome: 'refused', seconds: 0.01 },
  { type: 'engine.began', step: 'plan' },
  { type: 'engine.ended', step: 'plan', exit_code: null, seconds: 2 },
  { type: 'file.written', path: 'main.tf', lines_added: 3, lines_removed: 0 },
  { type: 'rule.found', rule: 'r', severity: 'error', address: null },
  { type: 'artifact.uploaded', kind: 'plans', name: 'a.txt', bytes: 7 },
  { type: 'budget.spent', tokens: 5, limit: 10 },
  { type: 'budget.left', budgets: [{ budget: 'round', unit: 'dollars', limit: 2, used: 0.5, left: 1.5 }] },
  { type: 'round.cancelling', by: 'ada@example.org' },
  { type: 'cut', limit: 'rows' },
]
const OUTPUTS: EngineOutput[] = [
  { type: 'step.began', step: 'plan', job_id: 'j' },
  { type: 'lines', step: 'plan', job_id: 'j', stream: 'stderr', text: 'one\ntwo\n' },
  { type: 'step.ended', step: 'plan', job_id: 'j', exit_code: 0, seconds: 1 },
  { type: 'cut', limit: 'bytes' },
]

describe('the frames of an event stream', () => {
  it('are those of the description, for every kind of event', async () => {
    const run = await start()
    for (const event of ACTIVITIES) run.eventLog.activity(event)
    for (const event of OUTPUTS) run.eventLog.output(event)
    await run.end()
    for (const [stream, schema, stored] of [
      ['activity', ActivitySchema, ACTIVITIES],
      ['output', OutputSchema, OUTPUTS],
    ] as const) {
      const events = await rest(await open(stream))
      expect(events.pop()).toEqual({ event: 'end', status: 'completed' })
      expect(events.map(({ event, type }) => event === type)).toEqual(stored.map(() => true))
      const told = events.map(({ event: _, ...data }) => data)
      expect(told.map(({ id: _, round, at: __, ...data }) => ({ round, ...data }))).toEqual(
        stored.map((event) => ({ round: 1, ...event })),
      )
      for (const event of told) expect(schema.parse(event)).toEqual(event)
    }
  })

  it('are described as components, each kind by its type', () => {
    const { Activity: activity, Output: output } = DOCUMENT.components.schemas
    expect(activity?.oneOf).toHaveLength(ACTIVITIES.length)
    expect(output?.oneOf).toHaveLength(OUTPUTS.length)
    expect(activity).toMatchObject({ discriminator: { propertyName: 'type' } })
  })
})

describe('an event stream', () => {
  it('tells a round live, and goes on after the last event that the client names, in header or query', async () => {
    const stream = await open('activity')
    const run = await start()
    run.eventLog.activity({ type: 'chain.began', chain: 'A' })
    expect(await stream.frame()).toBe(': keepalive\n\n')
    const id = /^id: (\d+)$/m.exec((await stream.frame()) ?? '')?.[1] ?? ''
    await stream.leave()
    run.eventLog.activity({ type: 'chain.began', chain: 'B' })
    await run.end('failed')
    const after = [
      await rest(await open('activity', '', { 'last-event-id': id })),
      await rest(await open('activity', `?after=${id}`)),
      await rest(await open('activity', `?after=${id}`, { 'last-event-id': '0' })),
    ]
    for (const events of after) expect(events).toMatchObject([{ chain: 'B' }, { event: 'end', status: 'failed' }])
    await eventually(() => expect(core.context.events.openStreams).toBe(0))
  })

  it('knows no round that the session does not have', async () => {
    expect(await refusalOf(core.call('GET', pathOf('activity', '?round=3')))).toEqual([
      404,
      `Round 3 of session ${uuid} not found.`,
    ])
  })

  it.each([
    ['?after=x', {}, ['query', 'after'], 'int_parsing'],
    ['?after=-1', {}, ['query', 'after'], 'greater_than_equal'],
    ['?after=99999999999999999999', {}, ['query', 'after'], 'less_than_equal'],
    ['?round=0', {}, ['query', 'round'], 'greater_than_equal'],
    ['?round=', {}, ['query', 'round'], 'int_parsing'],
    ['', { 'last-event-id': 'abc' }, ['header', 'last-event-id'], 'int_parsing'],
    ['', { 'last-event-id': '1.5' }, ['header', 'last-event-id'], 'int_parsing'],
  ])('with %s %j is refused', async (query, headers, loc, type) => {
    for (const stream of ['activity', 'output']) {
      expect(
        await refusalOf(core.call('GET', pathOf(stream, query), { headers: headers as Record<string, string> })),
      ).toMatchObject([422, [{ loc, type }]])
    }
  })
})
