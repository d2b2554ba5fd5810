import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { CoreContext } from '../../../routes/env.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { openEventLog } from '../../../src/events/event-log.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { readStream } from '../../helpers/sse.ts'

export interface Subject {
  url: string
  sql: Sql
}
export type Check = [name: string, run: (subject: Subject) => Promise<void>]

async function read(
  subject: Subject,
  path: string,
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const answer = await fetch(subject.url + path)
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> }
}

const post = (subject: Subject, path: string, json: unknown, headers = {}, method = 'POST') =>
  fetch(subject.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })

/** Makes the worker's dependencies of a stream. No worker runs here, so nothing is queued. */
const verbs = (sql: Sql): Pick<CoreContext, 'sql' | 'queue' | 'cache' | 'now'> => ({
  sql,
  queue: { enqueue: async () => {}, healthy: async () => true },
  cache: memoryCache(),
  now: () => new Date(),
})

async function newSession(subject: Subject): Promise<string> {
  const { body } = await read(subject, '/api/v1/users/me')
  return openSession(verbs(subject.sql), Number(body.id))
}

const subscribe = (subject: Subject, uuid: string) => fetch(`${subject.url}/api/v1/events/subscribe/${uuid}`)

/** The checks of a running core, in this order. */
export const CHECKS: Check[] = [
  [
    'GET /api/v1/auth/config',
    async (subject) => {
      const { status, body } = await read(subject, '/api/v1/auth/config')
      assert.equal(status, 200)
      assert.deepEqual(body, {
        issuer_url: '',
        client_id: '',
        audience: '',
        scope: 'openid profile email',
        artifact_metadata_header_prefix: 'x-amz-meta-',
      })
    },
  ],
  [
    'a request of HTTP/1.0 without a host, as health checks send it',
    async (subject) => {
      const { hostname, port } = new URL(subject.url)
      const socket = connect(Number(port), hostname)
      socket.write('GET /healthz HTTP/1.0\r\n\r\n')
      assert.match(await text(socket), /^HTTP\/1\.[01] 200 /)
    },
  ],
  [
    'GET /api/v1/users/me',
    async (subject) => {
      const { status, body } = await read(subject, '/api/v1/users/me')
      assert.equal(status, 200)
      assert.equal(body.email, 'dev@platform.local')
      assert.equal(body.operation_role, 'devops')
    },
  ],
  [
    'GET /api/v1/sessions/list',
    async (subject) => {
      const uuid = await newSession(subject)
      const { status, body } = await read(subject, `/api/v1/sessions/list?search=${uuid}`)
      assert.equal(status, 200)
      assert.equal(body.total, 1)
    },
  ],
  [
    'POST /api/v1/iac/generate, refused and as an iteration',
    async (subject) => {
      assert.equal((await post(subject, '/api/v1/iac/generate', { q: '' })).status, 422)
      const uuid = await newSession(subject)
      await (await runRound(verbs(subject.sql), uuid)).finish('completed', 'done')
      const accepted = await post(subject, '/api/v1/iac/generate', { q: 'more', session_id: uuid })
      assert.equal(accepted.status, 202)
      assert.deepEqual(await accepted.json(), { session_id: uuid })
      const [job] = await subject.sql`SELECT 1 FROM queued_rounds`
      assert.ok(job)
    },
  ],
  [
    'GET /api/v1/admin/audit, with the address of the connection, as a page and as CSV',
    async (subject) => {
      const uuid = await newSession(subject)
      const path = `/api/v1/admin/sessions/${uuid}/toggle_lock`
      const locked = await post(subject, path, { locked: true }, { 'x-forwarded-for': '203.0.113.7' }, 'PATCH')
      assert.equal(locked.status, 200)
      const { body } = await read(subject, `/api/v1/admin/audit?session_id=${uuid}&action=session_locked`)
      const [entry] = body.items as { actor: string; address: string }[]
      assert.deepEqual([entry?.actor, entry?.address], ['dev@platform.local', '127.0.0.1'])
      const csv = await fetch(`${subject.url}/api/v1/admin/audit?session_id=${uuid}`, {
        headers: { accept: 'text/csv' },
      })
      assert.match(await csv.text(), /^id,at,action,.*\r\n\d+,[^,]*,session_locked,dev@platform\.local,/)
    },
  ],
  [
    'POST /api/v1/iac/cancel, of a round that waits and of none',
    async (subject) => {
      const session_id = await newSession(subject)
      const cancel = () => post(subject, '/api/v1/iac/cancel', { session_id })
      const stream = readStream(await subscribe(subject, session_id))
      assert.equal((await stream.event())?.status_msg, 'STARTED')
      assert.equal((await cancel()).status, 202)
      const rest = await stream.rest()
      assert.deepEqual(rest.at(-1), {
        status_msg: 'UNCOMPLETED',
        detail: { message: 'Cancelled by dev@platform.local.' },
      })
      assert.equal((await cancel()).status, 409)
    },
  ],
  [
    'POST /api/v1/iac/seal/verify without a saved plan; totals and filters of sessions',
    async (subject) => {
      const session_id = await newSession(subject)
      assert.equal((await post(subject, '/api/v1/iac/seal/verify', { session_id })).status, 409)
      const { body: totals } = await read(subject, '/api/v1/admin/sessions/summary?locked=false')
      const { body: page } = await read(subject, '/api/v1/admin/sessions/list?locked=false&sort=last_activity')
      assert.equal(totals.total, page.total)
      assert.equal((page.items as { uuid: string }[])[0]?.uuid, session_id)
    },
  ],
  [
    'GET /healthz, /readyz',
    async (subject) => {
      assert.deepEqual((await read(subject, '/healthz')).body, { status: 'ok' })
      assert.deepEqual((await read(subject, '/readyz')).body, {
        status: 'ok',
        parts: { database: 'ok', cache: 'ok', queue: 'ok', storage: 'ok' },
      })
    },
  ],
  [
    'GET /api/openapi.json, /api/docs with its files',
    async (subject) => {
      const { body } = await read(subject, '/api/openapi.json')
      assert.equal(body.openapi, '3.1.0')
      assert.equal((await fetch(`${subject.url}/api/docs`)).status, 200)
      for (const name of ['swagger-ui-bundle.js', 'redoc.standalone.js']) {
        const asset = await fetch(`${subject.url}/api/docs/assets/${name}`)
        assert.ok((await asset.arrayBuffer()).byteLength > 100_000)
      }
    },
  ],
  [
    'a large body is refused',
    async (subject) => {
      const large = { repo_uri: 'x'.repeat(11 * 1024 * 1024) }
      assert.equal((await post(subject, '/api/v1/repository/parse', large)).status, 413)
    },
  ],
  [
    'a stream from the first comment to the end of its round',
    async (subject) => {
      const uuid = await newSession(subject)
      const response = await subscribe(subject, uuid)
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
      assert.equal(response.headers.get('x-accel-buffering'), 'no')
      const stream = readStream(response)
      assert.equal(await stream.frame(), ': keepalive\n\n')
      assert.deepEqual(await stream.event(), { status_msg: 'STARTED', detail: { message: '' } })
      const run = await runRound(verbs(subject.sql), uuid)
      await run.status('generating', 'Writing "code"')
      assert.deepEqual(await stream.event(), { status_msg: 'GENERATING', detail: { message: 'Writing code' } })
      await run.finish('completed', 'Done')
      assert.deepEqual(await stream.rest(), [{ status_msg: 'COMPLETED', detail: { message: 'Done' } }])
    },
  ],
  ...(['activity', 'output'] as const).map(
    (channel): Check => [
      `the ${channel} of a round, live and resumed`,
      async (subject) => {
        const uuid = await newSession(subject)
        const open = async (query = '') =>
          readStream(await fetch(`${subject.url}/api/v1/events/${channel}/${uuid}${query}`))
        const stream = await open()
        assert.equal(await stream.frame(), ': keepalive\n\n')
        const run = await runRound(verbs(subject.sql), uuid)
        const eventLog = openEventLog(subject.sql, run.round, { log: silentLogger, mask: (text) => text })
        const tell = (name: string) => {
          if (channel === 'activity') eventLog.activity({ type: 'chain.began', chain: name })
          else eventLog.output({ type: 'step.began', step: name, job_id: 'job' })
        }
        tell('first')
        const frame = (await stream.frame()) ?? ''
        assert.match(frame, /^id: \d+\nevent: (chain|step)\.began\ndata: \{.*"first".*\}\n\n$/)
        await stream.leave()
        tell('second')
        await eventLog.close()
        await run.finish('completed', 'Done')
        const resumed = await open(`?after=${/^id: (\d+)/.exec(frame)?.[1]}`)
        assert.equal(await resumed.frame(), ': keepalive\n\n')
        assert.match((await resumed.frame()) ?? '', /"second"/)
        assert.equal(await resumed.frame(), 'event: end\ndata: {"status":"completed"}\n\n')
        assert.equal(await resumed.frame(), null)
      },
    ],
  ),
  [
    'a silent stream stays open and repeats its state',
    async (subject) => {
      const stream = readStream(await subscribe(subject, await newSession(subject)))
      for (let poll = 0; poll < 4; poll++) assert.equal((await stream.event())?.status_msg, 'STARTED')
      await stream.leave()
    },
  ],
]

/** Opens a stream, stops the process and checks that the stream ends in good order. */
export async function stopsWithOpenStream(subject: Subject, stop: () => Promise<number | null>): Promise<void> {
  const stream = readStream(await subscribe(subject, await newSession(subject)))
  assert.equal((await stream.event())?.status_msg, 'STARTED')
  const [code, rest] = await Promise.all([stop(), stream.rest()])
  assert.deepEqual(rest, [])
  assert.equal(code, 0)
}
