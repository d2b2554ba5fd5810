import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import { Activity, Output } from '../../routes/schemas/round-event.ts'
import { silentLogger } from '../../src/base/log.ts'
import { openEventLog } from '../../src/events/event-log.ts'
import type { EngineOutput, Activity as StoredActivity } from '../../src/events/round-event.ts'
import type { Running } from '../../src/runtime/serve.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { DOCUMENT } from '../helpers/described.ts'
import { eventually } from '../helpers/eventually.ts'
import { listen } from '../helpers/listen.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
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

const path = (stream: string, query = '') => `/api/v1/events/${stream}/${uuid}${query}`
const open = async (stream: string, query = '', headers: Record<string, string> = {}) => {
  const response = await fetch(server.url + path(stream, query), { headers })
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
const ACTIVITIES: StoredActivity[] = [
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
  { type: 'round.cancelling', by: 'ada@example.org' },
  { type: 'cut', limit: 'rows' },
]
const OUTPUTS: EngineOutput[] = [
  { type: 'step.began', step: 'plan', job_id: 'j' },
  { type: 'lines', step: 'plan', job_id: 'j', stream: 'stderr', text: 'one\ntwo\n' },
  { type: 'step.ended', step: 'plan', job_id: 'j', exit_code: 0, seconds: 1 },
  { type: 'cut', limit: 'bytes' },
]

describe('the frames', () => {
  it('are those of the description, for every kind of event', async () => {
    const run = await start()
    for (const event of ACTIVITIES) run.eventLog.activity(event)
    for (const event of OUTPUTS) run.eventLog.output(event)
    await run.end()
    for (const [stream, schema, stored] of [
      ['activity', Activity, ACTIVITIES],
      ['output', Output, OUTPUTS],
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
    type Bare<Schema extends z.ZodType> =
      z.output<Schema> extends infer Each ? (Each extends object ? Omit<Each, 'id' | 'round' | 'at'> : never) : never
    expectTypeOf<StoredActivity>().toExtend<Bare<typeof Activity>>()
    expectTypeOf<EngineOutput>().toExtend<Bare<typeof Output>>()
    const { Activity: activity, Output: output } = DOCUMENT.components.schemas
    expect(activity?.oneOf).toHaveLength(ACTIVITIES.length)
    expect(output?.oneOf).toHaveLength(OUTPUTS.length)
    expect(activity).toMatchObject({ discriminator: { propertyName: 'type' } })
  })
})

describe('a connection', () => {
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
    const missing = await core.call('GET', path('activity', '?round=3'))
    expect([missing.status, await missing.json()]).toEqual([404, { detail: `Round 3 of session ${uuid} not found.` }])
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
      const answer = await core.call('GET', path(stream, query), { headers: headers as Record<string, string> })
      expect([answer.status, (await answer.json()).detail]).toMatchObject([422, [{ loc, type }]])
    }
  })
})
