import { afterAll, beforeAll, describe, expect } from 'vitest'
import { ENDPOINTS } from '../../../routes/endpoints.ts'
import { sizeText } from '../../../routes/validation/read-body.ts'
import { createAuthzApp } from '../../../sidecars/authz/main.ts'
import { createMappingApp } from '../../../sidecars/mapping/main.ts'
import { createDeliveries } from '../../../sidecars/notifications/deliveries.ts'
import { createNotificationsApp } from '../../../sidecars/notifications/main.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { type Running, serve } from '../../../src/runtime/serve.ts'
import { createTestCore } from '../../helpers/core.ts'
import { HOSTILE_BODIES } from '../../helpers/hostile-json.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { startTestService, type TestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

const GROUP = 'hostile bodies'
const core = startOnce(createTestCore)
const routes = ENDPOINTS.filter(({ route }) => route.request?.body).map(({ route, maxBodyBytes }) => ({
  method: route.method.toUpperCase(),
  path: `/api${route.path.replace('{user_id}', '1').replace('{session_id}', crypto.randomUUID())}`,
  maxBodyBytes,
}))
const headers = { 'content-type': 'application/json' }
const send = ({ method, path }: { method: string; path: string }, body: BodyInit) =>
  core.app.request(path, { method, body, headers })

const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join(',')}}`

/** Checks that an answer is a documented refusal and not a failure of the platform. */
async function expectRefusal(answer: Response, where: string): Promise<string> {
  expect([400, 413, 422], where).toContain(answer.status)
  const { detail } = (await answer.json()) as { detail: unknown }
  if (answer.status !== 422) expect(typeof detail, where).toBe('string')
  else expect((detail as unknown[]).length, where).toBeLessThanOrEqual(100)
  expect(JSON.stringify(detail).length, where).toBeLessThan(1_000_000)
  return `${answer.status} ${typeof detail === 'string' ? detail : `with ${(detail as unknown[]).length} problems at most`}`
}

describe('the core', () => {
  attack(GROUP, '200000 unknown keys at every route', async () => {
    const body = keys(200_000)
    const said = new Set<string>()
    for (const route of routes) said.add(await expectRefusal(await send(route, body), route.path))
    return [...said].sort()[0] ?? ''
  })

  attack(GROUP, 'as many unknown keys as are read', async () => {
    const answer = await send({ method: 'POST', path: '/api/v1/notifications' }, keys(9_000))
    const { detail } = await answer.json()
    expect([answer.status, detail.length]).toEqual([422, 100])
    expect(detail.at(-1)).toEqual({
      type: 'too_many_problems',
      loc: ['body'],
      msg: '8905 more problems are not listed',
      input: null,
    })
    return `422 with 100 entries, the last: ${detail.at(-1).msg}`
  })

  for (const { name, write } of HOSTILE_BODIES)
    attack(GROUP, `${name}, of the largest allowed size, at every route`, async () => {
      let said = ''
      for (const route of routes) {
        const body = write(route.maxBodyBytes)
        expect(Buffer.byteLength(body), route.path).toBeLessThanOrEqual(route.maxBodyBytes)
        said = await expectRefusal(await send(route, body), route.path)
      }
      expect((await core.app.request('/healthz')).status).toBe(200)
      return said
    })

  attack(GROUP, 'one byte more than a route takes, announced or not', async () => {
    for (const route of routes) {
      const body = `"${'x'.repeat(route.maxBodyBytes - 1)}"`
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(body))
          controller.close()
        },
      })
      const { method } = route
      const announced = {
        method,
        body: '{}',
        headers: { ...headers, 'content-length': String(route.maxBodyBytes + 1) },
      }
      const unannounced = { method, body: stream, headers, duplex: 'half' }
      for (const init of [announced, unannounced]) {
        const answer = await core.app.request(route.path, init)
        const text = `Request body is larger than ${route.maxBodyBytes} bytes (${sizeText(route.maxBodyBytes)}).`
        expect([answer.status, await answer.json()], route.path).toEqual([413, { detail: text }])
      }
    }
    return '413 Request body is larger than 65536 bytes (64 KiB).'
  })

  attack(GROUP, 'a megabyte in chunks of one byte', async () => {
    const [byte, count] = [new Uint8Array([0x20]), 1024 * 1024]
    let sent = 0
    const body = new ReadableStream({
      pull: (controller) => {
        for (let burst = 0; burst < 1_000 && sent < count; burst++, sent++) controller.enqueue(byte)
        if (sent >= count) controller.close()
      },
    })
    const init = { method: 'POST', body, headers, duplex: 'half' }
    const answer = await core.app.request('/api/v1/iac/generate', init)
    expect(answer.status).toBe(422)
    return 'small chunks are collected into larger ones; 422'
  })

  attack(GROUP, 'a secret in a value that takes long to search', async () => {
    const body = JSON.stringify({ extra: `://${':'.repeat(1_000)}secret@`, kind: 1 })
    const text = await (await send({ method: 'POST', path: '/api/v1/notifications' }, body)).text()
    expect(text).not.toContain('secret')
    return 'the value is shown as null'
  })
})

describe('the sidecars', () => {
  const deliveries = createDeliveries({ deliver: async () => {} })
  const store = { read: async () => new Map(), change: async () => {} }
  const [token, log] = ['', silentLogger]
  const targets = [
    { path: '/v1/check', app: createAuthzApp({ token, permissive: true, store, log }), bytes: 64 * 1024 },
    { path: '/v1/resolve', app: createMappingApp({ token, catalogue: null, strict: false, log }), bytes: 64 * 1024 },
    { path: '/v1/notify', app: createNotificationsApp({ token, deliveries, log }), bytes: 2 * 1024 * 1024 },
  ]
  let running: (Running & { path: string; bytes: number })[]
  let iac: TestService
  beforeAll(async () => {
    const options = { port: 0, hostname: '127.0.0.1' }
    running = await Promise.all(
      targets.map(async ({ path, app, bytes }) => ({
        ...(await serve((each) => app.fetch(each), options)),
        path,
        bytes,
      })),
    )
    iac = await startTestService()
  })
  afterAll(async () => {
    await Promise.all(running.map(({ close }) => close(1000)))
    await iac.close()
  })

  const refused = (status: number, text: string, where: string) => {
    expect([400, 413, 422], where).toContain(status)
    expect(text.length, where).toBeLessThan(70_000)
    return `${status} ${(JSON.parse(text) as { title: string }).title}`
  }

  for (const { name, write } of [{ name: '200000 unknown keys', write: () => keys(200_000) }, ...HOSTILE_BODIES])
    attack(GROUP, `${name}, at every sidecar`, async () => {
      let said = ''
      for (const { url, path, bytes } of running) {
        const answer = await fetch(url + path, { method: 'POST', headers, body: write(bytes) })
        said = refused(answer.status, await answer.text(), path)
      }
      for (const [path, bytes] of [
        ['/v1/plan', 4 * 1024 * 1024],
        ['/v1/schema', 64 * 1024],
      ] as const) {
        const answer = await iac.request('POST', path, { text: write(bytes) })
        refused(answer.status, JSON.stringify(answer.body), path)
      }
      return said
    })
})
