import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { listen, type Running } from '../../dev/server.ts'
import { send } from '../../src/base/http.ts'
import { createFetch, createPinnedFetch } from '../../src/runtime/fetch.ts'
import { startOnce } from '../helpers/start-once.ts'
import { trust } from '../repository/support.ts'

const NAME = 'git.pinned.test'
let running: Running
let port: number
let respond: (request: IncomingMessage, response: ServerResponse) => void
let connections = 0

let strange: Awaited<ReturnType<typeof certificates>>

/** Makes an unknown authority and its certificate for the name. */
async function certificates(): Promise<{ caPem: string; cert: string; key: string }> {
  const shape = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const
  const authority = await generate([{ name: 'commonName', value: `Authority ${crypto.randomUUID()}` }], {
    ...shape,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  const made = await generate([{ name: 'commonName', value: NAME }], {
    ...shape,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: NAME }] }],
  })
  return { caPem: authority.cert, cert: made.cert, key: made.private }
}

beforeAll(async () => {
  const made = await certificates()
  strange = await certificates()
  trust(made.caPem)
  const server = createServer({ cert: made.cert, key: made.key }, (request, response) => respond(request, response))
  server.on('connection', () => connections++)
  running = await listen(server)
  port = running.port
})
afterAll(() => running.close())
beforeEach(() => {
  connections = 0
  respond = (_, response) => response.end('hello')
})

const url = (path = '/', name = NAME) => `https://${name}:${port}${path}`
const pinned = (...addresses: string[]) => createPinnedFetch()(new URL(url()), addresses)

describe('a pinned connection', () => {
  it('goes to the given address although nobody knows the name', async () => {
    expect(await (await pinned('127.0.0.1')(url())).text()).toBe('hello')
  })

  it('tries one address after the other', async () => {
    expect((await pinned('127.0.0.9', '127.0.0.1')(url())).status).toBe(200)
  })

  it('goes nowhere without an address', async () => {
    await expect(pinned()(url())).rejects.toThrow('no address is known')
    expect(connections).toBe(0)
  })

  it('knows one origin and https only', async () => {
    const others = [
      url('/', 'localhost'),
      url('/', '127.0.0.1'),
      url().replace('https', 'http'),
      `https://${NAME}:1/`,
      'data:,x',
    ]
    for (const other of others)
      await expect(pinned('127.0.0.1')(other)).rejects.toThrow(`connections are pinned to https://${NAME}:${port}`)
    const plain = `http://${NAME}:${port}/`
    await expect(createPinnedFetch()(new URL(plain), ['127.0.0.1'])(plain)).rejects.toThrow('over https')
    expect(connections).toBe(0)
  })

  it('checks the certificate for the name', async () => {
    const other = 'other.pinned.test'
    await expect(createPinnedFetch()(new URL(url('/', other)), ['127.0.0.1'])(url('/', other))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
  })

  it('trusts a further authority where it is told to, besides the usual ones', async () => {
    const foreign = createServer({ cert: strange.cert, key: strange.key }, (_, response) => response.end('own'))
    const { port, close } = await listen(foreign)
    const own = new URL(`https://${NAME}:${port}/`)
    const more = { trusted: ({ host }: URL) => host === own.host, caPem: strange.caPem }
    expect(await (await createPinnedFetch(more)(own, ['127.0.0.1'])(own)).text()).toBe('own')
    for (const fetch of [createPinnedFetch(), createPinnedFetch({ ...more, trusted: () => false })])
      await expect(fetch(own, ['127.0.0.1'])(own)).rejects.toMatchObject({
        code: expect.stringMatching(/UNABLE_TO|SELF_SIGNED/),
      })
    const usual = new URL(url())
    expect((await createPinnedFetch({ ...more, trusted: () => true })(usual, ['127.0.0.1'])(usual)).status).toBe(200)
    await close()
  })

  it('parses the authorities once, however many connections are made', async () => {
    const parsed = vi.spyOn(tls, 'createSecureContext')
    const open = createPinnedFetch({ caPem: strange.caPem, trusted: () => true })
    for (let index = 0; index < 3; index++)
      await (await open(new URL(url()), ['127.0.0.1'])(url(), { headers: { connection: 'close' } })).text()
    expect(connections).toBe(3)
    expect(parsed.mock.calls.filter(([options]) => options?.ca !== undefined)).toHaveLength(1)
    parsed.mockRestore()
  })

  it('is used again', async () => {
    const fetch = pinned('127.0.0.1')
    for (let index = 0; index < 5; index++) await (await fetch(url())).text()
    expect(connections).toBe(1)
  })
})

describe('a request', () => {
  it('carries method, headers and body', async () => {
    respond = (request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () =>
        response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })),
      )
    }
    const body = new TextEncoder().encode('0032want')
    const answer = await pinned('127.0.0.1')(url('/a%20b?c=d'), { method: 'POST', body, headers: { 'X-Sent': 'yes' } })
    expect(await answer.json()).toMatchObject({
      method: 'POST',
      url: '/a%20b?c=d',
      body: '0032want',
      headers: { host: `${NAME}:${port}`, 'x-sent': 'yes', 'content-length': '8', 'accept-encoding': 'identity' },
    })
  })

  it.each([204, 205, 304, 401, 500])('may be answered with %i', async (status) => {
    respond = (_, response) =>
      response
        .writeHead(
          status,
          [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ].flat(),
        )
        .end()
    const answer = await pinned('127.0.0.1')(url())
    expect([answer.status, answer.headers.getSetCookie(), await answer.text()]).toEqual([status, ['a=1', 'b=2'], ''])
  })

  it('that is redirected is answered with the redirect', async () => {
    respond = (_, response) => response.writeHead(302, { location: 'https://127.0.0.1/' }).end()
    const answer = await pinned('127.0.0.1')(url())
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://127.0.0.1/'])
    expect(connections).toBe(1)
  })

  it('that was cancelled before is not sent', async () => {
    await expect(pinned('127.0.0.1')(url(), { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone')
    expect(connections).toBe(0)
  })

  it.each(['before the answer', 'within the body'])('can be cancelled %s', async (when) => {
    const cancel = new AbortController()
    const arrived = Promise.withResolvers<ServerResponse>()
    respond = (_, response) => {
      if (when === 'within the body') response.write('part')
      arrived.resolve(response)
    }
    const outcome = pinned('127.0.0.1')(url(), { signal: cancel.signal }).then((answer) => answer.text())
    const refused = expect(outcome).rejects.toThrow()
    const response = await arrived.promise
    const closed = once(response, 'close')
    cancel.abort()
    await Promise.all([refused, closed])
  })

  it('fails when the answer is cut', async () => {
    respond = (request, response) =>
      void response.writeHead(200, { 'content-length': 100 }).write('part', () => request.socket.destroy())
    await expect(pinned('127.0.0.1')(url()).then((answer) => answer.text())).rejects.toThrow()
  })

  it('keeps the limits of the one way out', async () => {
    const fetch = pinned('127.0.0.1')
    respond = (_, response) => response.end('x'.repeat(100_000))
    await expect(send(fetch, { url: url(), timeoutMs: 30_000, maxBytes: 1_000 })).rejects.toMatchObject({
      kind: 'body',
    })
    respond = () => {}
    await expect(send(fetch, { url: url(), timeoutMs: 100 })).rejects.toMatchObject({ kind: 'timeout' })
    await expect(send(pinned('127.0.0.9'), { url: url(), timeoutMs: 30_000 })).rejects.toMatchObject({
      kind: 'network',
    })
  })
})

describe('fetch of the processes', () => {
  const waiting: ServerResponse[] = []
  const server = createPlainServer((request, response) =>
    request.url === '/now' ? response.end('now') : waiting.push(response),
  )
  const plain = startOnce(() => listen(server))

  it('obeys the limit it is given, so that the limits of the runtime are not in force', async () => {
    await expect(createFetch(50)(`${plain.url}/never`)).rejects.toMatchObject({
      cause: { name: 'HeadersTimeoutError' },
    })
  })

  it('answers, takes a body and is cancelled like any fetch', async () => {
    const patient = createFetch()
    expect(await (await patient(`${plain.url}/now`, { method: 'POST', body: 'x' })).text()).toBe('now')
    const controller = new AbortController()
    const pending = patient(`${plain.url}/never`, { signal: controller.signal })
    await expect.poll(() => waiting.length).toBeGreaterThan(0)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' })
  })
})
