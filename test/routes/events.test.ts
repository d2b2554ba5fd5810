import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptRound } from '../../src/rounds/accept.ts'
import type { Running } from '../../src/runtime/serve.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { eventually } from '../helpers/eventually.ts'
import { listen } from '../helpers/listen.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { readStream } from '../helpers/sse.ts'

let core: TestCore
let server: Running
let me: number
let uuid: string

beforeAll(async () => {
  core = await createTestCore()
  server = await listen(core.app)
  me = (await (await core.call('GET', '/api/v1/users/me')).json()).id
})
afterAll(async () => {
  await core.context.events.close()
  await server.close(1_000)
  await core.close()
})
beforeEach(async () => {
  uuid = await openSession(core.context, me)
})

const path = (id = uuid) => `/api/v1/events/subscribe/${id}`
const subscribe = async (id = uuid, base = server.url) => {
  const response = await fetch(base + path(id))
  expect(response.status).toBe(200)
  return readStream(response)
}
const event = (status_msg: string, message = '') => ({ status_msg, detail: { message } })
const openStreams = () => core.context.events.openStreams

describe('the connection', () => {
  it('has the headers of an event stream', async () => {
    const response = await fetch(server.url + path())
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

  it('answers 404, 403 and 422 as plain errors', async () => {
    const unknown = crypto.randomUUID()
    const missing = await core.call('GET', path(unknown))
    expect([missing.status, await missing.json()]).toEqual([404, { detail: `Session ${unknown} not found.` }])
    const bad = await core.call('GET', path('not-a-uuid'))
    expect([bad.status, (await bad.json()).detail]).toMatchObject([
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
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(`GET ${path()} HTTP/1.1\r\nHost: core\r\n\r\n`)
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

describe('readers', () => {
  it('may be the owner and every holder of a panel role, checked at connect alone', async () => {
    const sql = core.database.sql
    const owner = await createUser(sql, 'owner-of-events')
    const foreign = await openSession(core.context, owner.id)
    // The local developer is panel admin.
    const stream = await subscribe(foreign)
    expect(await stream.event()).toEqual(event('STARTED'))
    await stream.leave()
  })
})
