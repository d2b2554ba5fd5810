import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../../src/base/log.ts'
import { openEventLog } from '../../../../src/events/event-log.ts'
import { type Running, serve } from '../../../../src/runtime/serve.ts'
import { createTestCore, type TestCore } from '../../../helpers/core.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { createUser, openSession, runRound } from '../../../helpers/sessions.ts'
import {
  ask,
  type Frames,
  KINDS,
  openHttp2Stream,
  openStream,
  type RunningProxy,
  readHttp10,
  startProxy,
} from './proxy.ts'

const LIMIT_MS = 120_000
/** A caller at an address that is not that of the proxy. */
const CALLER = '127.0.0.7'
/** Shorter than the time-outs of the configurations, and longer than the 5 s between two messages of a stream. */
const IDLE_S = 7
/** More than the limit of connections and requests that Envoy has where nothing is said. */
const MANY = 1_100

let core: TestCore
let server: Running
let me: number
const listenAt = (hostname: string) =>
  serve((request, peer) => core.app.fetch(request, { peer }), { port: 0, hostname })
beforeAll(async () => {
  core = await createTestCore({ yaml: 'http: { trusted_proxies: ["127.0.0.1"] }' })
  server = await listenAt('127.0.0.1')
  me = (await (await core.call('GET', '/api/v1/users/me')).json()).id
})
afterAll(async () => {
  await core.context.events.close()
  await server.close(1_000)
  await core.close()
})

let uuid: string
beforeEach(async () => {
  uuid = await openSession(core.context, me)
})
const statusPath = () => `/api/v1/events/subscribe/${uuid}`
const statusOf = (frame: string | null) => /"status_msg":"(\w+)"/.exec(frame ?? '')?.[1]
const idOf = (frame: string | null) => Number(/^id: (\d+)$/m.exec(frame ?? '')?.[1])
/** Reads on until a status other than `not`. */
async function nextStatus(frames: Frames, not: string): Promise<string | undefined> {
  for (;;) {
    const frame = await frames.next()
    if (frame === null || (statusOf(frame) ?? not) !== not) return statusOf(frame)
  }
}

describe.each(Object.keys(KINDS))('the core behind %s, as it is published', (name) => {
  let proxy: RunningProxy
  beforeAll(async () => {
    proxy = await startProxy(name, server.url)
  }, LIMIT_MS)
  afterAll(() => proxy?.close())

  it.each([
    ['HTTP/1.1', openStream],
    ['HTTP/2', openHttp2Stream],
  ] as const)(
    'passes an event stream on as it is written, over %s, and its end',
    async (_, open) => {
      const stream = await open(proxy, statusPath(), { 'accept-encoding': 'gzip' })
      expect([stream.status, stream.headers['content-encoding']]).toEqual([200, undefined])
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
      expect(await stream.next()).toBe(': keepalive\n\n')
      expect(statusOf(await stream.next())).toBe('STARTED')
      const run = await runRound(core.context, uuid)
      await run.status('generating', 'Writing')
      expect(await nextStatus(stream, 'STARTED')).toBe('GENERATING')
      await run.finish('completed', 'Done')
      expect(await nextStatus(stream, 'GENERATING')).toBe('COMPLETED')
      expect(await stream.next()).toBeNull()
      stream.leave()
    },
    LIMIT_MS,
  )

  it('tells the core when a reader goes away', async () => {
    const before = core.context.events.openStreams
    for (const open of [openStream, openHttp2Stream]) {
      const stream = await open(proxy, statusPath())
      await stream.next()
      await eventually(() => expect(core.context.events.openStreams).toBe(before + 1))
      stream.leave()
      await eventually(() => expect(core.context.events.openStreams).toBe(before))
    }
  })

  it(
    `holds ${MANY} streams at once, and answers beside them`,
    async () => {
      const streams: Frames[] = []
      try {
        for (let count = 0; count < MANY; count += 100)
          streams.push(...(await Promise.all(Array.from({ length: 100 }, () => openStream(proxy, statusPath())))))
        const frames = await Promise.all(streams.map(async ({ next }) => [await next(), await next()]))
        expect(new Set(frames.map(([, frame]) => statusOf(frame ?? null)))).toEqual(new Set(['STARTED']))
        expect((await ask(proxy, { path: '/api/v1/users/me' })).status).toBe(200)
      } finally {
        for (const stream of streams) stream.leave()
      }
      await eventually(() => expect(core.context.events.openStreams).toBe(0))
    },
    LIMIT_MS,
  )

  it(
    'keeps a core whose cache does not answer',
    async () => {
      const cache = { ...core.context.cache, ping: () => new Promise<void>(() => {}) }
      const app = await core.another({ context: { cache } })
      let probes = 0
      const silent = await serve(
        async (request) => {
          const answer = await app.fetch(request)
          if (request.url.endsWith('/readyz')) probes++
          return answer
        },
        { port: 0, hostname: '127.0.0.1' },
      )
      const proxy = await startProxy(name, silent.url, {
        changes: [['health_uri /readyz', 'health_uri /readyz\n\t\thealth_interval 2s']],
      })
      try {
        // nginx does not probe. HAProxy gives a core up after three probes that failed, the others after fewer.
        if (name !== 'nginx') await vi.waitFor(() => expect(probes).toBeGreaterThan(4), { timeout: LIMIT_MS })
        expect((await ask(proxy, { path: '/api/v1/users/me' })).status).toBe(200)
      } finally {
        await proxy.close()
        await silent.close(1_000)
      }
    },
    LIMIT_MS,
  )

  it('compresses answers, and no streams', async () => {
    const answer = await ask(proxy, { path: '/api/openapi.json', headers: { 'accept-encoding': 'gzip' } })
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, 'gzip'])
  })

  it(
    'serves clients of HTTP/1.0, and ends their connection with the stream',
    async () => {
      await (await runRound(core.context, uuid)).finish('completed', 'Done')
      for (const more of ['', 'Connection: keep-alive\r\n']) {
        const text = await readHttp10(proxy, statusPath(), more)
        expect(text).toMatch(/^HTTP\/1\.[01] 200 /)
        expect(text).toContain('"status_msg":"COMPLETED"')
      }
    },
    LIMIT_MS,
  )

  it.each([12, 16, 28])('passes a header of %i kB on', async (kilobytes) => {
    const headers = { authorization: `Bearer ${'x'.repeat(kilobytes * 1024 - 200)}` }
    expect((await ask(proxy, { path: '/api/v1/users/me', headers })).status).toBe(200)
  })

  it.each([
    '/api/v1/events/subscribe/a%2Fb',
    '/api/v1/events%2Fsubscribe/x',
    '/api/v1/users/me/',
    '/api/v1/sessions?title=a%2Fb%20c+d%25&page=1',
    '/api/v1/users%2Fme',
    '/v1/users/me',
    '/api/v1/sessions/%E2%82%AC',
    '/api/v1/sessions/%zz',
  ])('answers %s as the core itself does', async (path) => {
    const direct = await fetch(server.url + path, { redirect: 'manual' })
    const told = await ask(proxy, { path })
    // A proxy may refuse itself what is no address.
    if (path.includes('%zz') && told.status === 400) return
    expect([told.status, told.body]).toEqual([direct.status, await direct.text()])
  })

  it('leaves bodies as they are, and the largest that the core reads', async () => {
    const call = (q: string) =>
      ask(proxy, {
        path: '/api/v1/iac/generate',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ q }),
      })
    expect((await call('x')).status).toBe(422)
    const large = await call('x'.repeat(3_000_000))
    expect(large.status).toBe(413)
  })

  it('tells who calls, whatever the caller claims', async () => {
    const user = await createUser(core.database.sql, `caller-of-${name}`)
    const body = JSON.stringify({ operation_role: 'devops' })
    const path = `/api/v1/admin/users/${user.id}/roles`
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' }
    const answer = await ask(proxy, { path, method: 'PUT', headers, body, from: CALLER })
    expect(answer.status).toBe(200)
    const [entry] = (await (await core.call('GET', '/api/v1/admin/audit')).json()).items
    expect(entry).toMatchObject({ action: 'roles_changed', address: CALLER })
  })

  it(
    'keeps a silent stream past its time-out, because something is sent every 5 s',
    async () => {
      const impatient = await startProxy(name, server.url, { changes: [['60s', `${IDLE_S}s`]] })
      try {
        const stream = await openStream(impatient, statusPath())
        const began = performance.now()
        let frames = 0
        while (performance.now() - began < 2 * IDLE_S * 1_000) {
          expect(await stream.next()).not.toBeNull()
          frames++
        }
        expect(frames).toBeGreaterThan(2)
        stream.leave()
      } finally {
        await impatient.close()
      }
    },
    LIMIT_MS,
  )

  it(
    'loses no event and tells none twice to clients that come back after it was restarted',
    async () => {
      const path = `/api/v1/events/activity/${uuid}`
      const run = await runRound(core.context, uuid)
      const log = openEventLog(core.database.sql, run.round, { log: silentLogger, mask: (text) => text })
      const tell = (number: number) => log.activity({ type: 'chain.began', chain: `C${number}` })
      const chainOf = (frame: string | null) => /"chain":"C(\d+)"/.exec(frame ?? '')?.[1]
      const clients = Array.from({ length: 25 }, () => ({ seen: [] as string[], last: 0 }))
      const follow = async (client: (typeof clients)[number], until: string) => {
        const headers: Record<string, string> = client.last > 0 ? { 'last-event-id': String(client.last) } : {}
        const stream = await openStream(proxy, path, headers)
        try {
          for (let frame = await stream.next(); frame !== null; frame = await stream.next()) {
            const chain = chainOf(frame)
            if (chain === undefined) continue
            client.seen.push(chain)
            client.last = idOf(frame)
            if (chain === until) return
          }
        } finally {
          stream.leave()
        }
      }
      for (let number = 1; number <= 10; number++) tell(number)
      // Each client has read another number of events when the proxy goes away.
      await Promise.all(clients.map((client, index) => follow(client, String(1 + (index % 10)))))
      await proxy.restart()
      for (let number = 11; number <= 20; number++) tell(number)
      await log.close()
      await run.finish('completed')
      await Promise.all(clients.map((client) => follow(client, 'the end')))
      for (const { seen } of clients) expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 1)))
    },
    LIMIT_MS,
  )

  it(
    'speaks IPv6 on both sides',
    async () => {
      const core6 = await listenAt('::1')
      const proxy6 = await startProxy(name, core6.url, { host: '::1' })
      try {
        const stream = await openStream({ port: proxy6.port, host: '::1' }, statusPath())
        expect([stream.status, await stream.next()]).toEqual([200, ': keepalive\n\n'])
        stream.leave()
      } finally {
        await proxy6.close()
        await core6.close(1_000)
      }
    },
    LIMIT_MS,
  )
})

describe('nginx with nothing but proxy_pass, which asks the core over HTTP/1.0', () => {
  const bare = (text: string): readonly (readonly [string, string])[] => [
    [`      proxy_http_version 1.1;\n      proxy_set_header Connection "";\n`, text],
  ]

  it(
    'passes streams on, and sees their end',
    async () => {
      const proxy = await startProxy('nginx', server.url, { changes: bare('') })
      try {
        const stream = await openStream(proxy, statusPath())
        expect(await stream.next()).toBe(': keepalive\n\n')
        const run = await runRound(core.context, uuid)
        await run.finish('completed', 'Done')
        expect(await nextStatus(stream, 'STARTED')).toBe('COMPLETED')
        expect(await stream.next()).toBeNull()
      } finally {
        await proxy.close()
      }
    },
    LIMIT_MS,
  )

  it(
    'serves the API and its description below a path that it strips',
    async () => {
      const proxy = await startProxy('nginx', server.url, {
        changes: [
          ['location / {', 'location /platform/ {\n      rewrite ^/platform(/.*)$ $1 break;'],
          ['  server {\n', '  server {\n    location = /healthz { proxy_pass http://core; }\n'],
        ],
      })
      try {
        for (const path of ['/platform/api/v1/users/me', '/platform/v1/users/me', '/platform/api/openapi.json'])
          expect((await ask(proxy, { path })).status).toBe(200)
        const page = await ask(proxy, { path: '/platform/api/docs' })
        const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
        expect(files.length).toBeGreaterThan(2)
        for (const file of files) {
          const { pathname } = new URL(file, 'http://x/platform/api/docs')
          expect((await ask(proxy, { path: pathname })).status, pathname).toBe(200)
        }
      } finally {
        await proxy.close()
      }
    },
    LIMIT_MS,
  )
})
