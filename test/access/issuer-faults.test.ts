import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { listen } from '../../dev/server.ts'
import { createTokenVerifier } from '../../src/access/verify-token.ts'
import type { Fetch } from '../../src/base/http.ts'
import { oidcConfig } from '../helpers/oidc-config.ts'

const UNREADABLE = 'Token validation failed: the keys of the identity provider could not be read'
const DISCOVERY = '/.well-known/openid-configuration'
const pair = await generateKeyPair('RS256', { extractable: true })
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
type Handler = (request: IncomingMessage, response: ServerResponse) => void
const json =
  (body: () => unknown): Handler =>
  (_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body()))

let url: string
let asked: string[]
let routes: Record<string, Handler>

beforeEach(async () => {
  asked = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const handler = routes[request.url ?? '']
    if (handler) handler(request, response)
    else response.writeHead(404).end()
  })
  const running = await listen(server)
  url = running.url
  routes = {
    [DISCOVERY]: json(() => ({ issuer: url, jwks_uri: `${url}/keys` })),
    '/keys': json(() => ({ keys: [jwk] })),
  }
  return running.close
})

const direct: Fetch = (input, init) => globalThis.fetch(input, init)
const verifier = (fetch = direct, issuer_url = url) =>
  createTokenVerifier(oidcConfig({ issuer_url }), { fetch, now: () => new Date() })
const token = (iss = url) =>
  new SignJWT({ iss, sub: 'ada', aud: 'core', exp: Math.floor(Date.now() / 1000) + 60 })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(pair.privateKey)

const FAULTS: [string, Handler][] = [
  ['answers 500', (_, response) => void response.writeHead(500).end('{}')],
  ['cuts the connection', (request) => void request.socket.destroy()],
  [
    'cuts its answer',
    (_, response) => void response.writeHead(200, { 'content-length': '99' }).write('{"', () => response.destroy()),
  ],
  ['answers a page', (_, response) => void response.end('<html>login</html>')],
  ['answers nothing', (_, response) => void response.end()],
  ['answers another document', json(() => ({ hello: [] }))],
  ['answers a list', json(() => [])],
  ['answers keys that are none', json(() => ({ keys: ['x', null], jwks_uri: 7 }))],
  [
    'answers more than a megabyte',
    json(() => ({ keys: [jwk], jwks_uri: `${url}/keys`, padding: 'x'.repeat(1_100_000) })),
  ],
]

describe.each([DISCOVERY, '/keys'])('%s', (path) => {
  it.each(FAULTS)('%s: 401, and the next request tries anew', async (_, handler) => {
    const verify = verifier()
    const healthy = routes[path]
    routes[path] = handler
    await expect(verify(await token())).rejects.toMatchObject({
      status: 401,
      message: UNREADABLE,
      challenge: 'Bearer error="invalid_token"',
    })
    if (healthy) routes[path] = healthy
    await expect(verify(await token())).resolves.toMatchObject({ sub: 'ada' })
  })

  it.each([301, 302, 307])('a redirect with %i is not followed', async (status) => {
    routes['/elsewhere'] = routes[path] ?? json(() => ({}))
    routes[path] = (_, response) => void response.writeHead(status, { location: `${url}/elsewhere` }).end()
    await expect(verifier()(await token())).rejects.toMatchObject({ status: 401, message: UNREADABLE })
    expect(asked).not.toContain('/elsewhere')
  })

  it('is given up after ten seconds without an answer', async () => {
    const limits: number[] = []
    const asked_slow = Promise.withResolvers<void>()
    const limit = new AbortController()
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return limit.signal
    })
    routes[path] = () => asked_slow.resolve()
    const pending = verifier()(await token())
    const refused = expect(pending).rejects.toMatchObject({ status: 401, message: UNREADABLE })
    await asked_slow.promise
    limit.abort(new DOMException('late', 'TimeoutError'))
    await refused
    spy.mockRestore()
    expect(limits.at(-1)).toBe(10_000)
  })
})

describe('the issuer', () => {
  it('is not asked twice by callers that fail together', async () => {
    routes[DISCOVERY] = (_, response) => void response.writeHead(503).end()
    const verify = verifier()
    const one = await token()
    await Promise.all(
      Array.from({ length: 100 }, () => expect(verify(one)).rejects.toMatchObject({ message: UNREADABLE })),
    )
    expect(asked).toEqual([DISCOVERY])
  })

  it('keeps its address when only the keys could not be read', async () => {
    const verify = verifier()
    const keys = routes['/keys']
    delete routes['/keys']
    await expect(verify(await token())).rejects.toMatchObject({ message: UNREADABLE })
    if (keys) routes['/keys'] = keys
    await verify(await token())
    expect(asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it.each([
    'http://issuer.example.org/keys',
    'file:///etc/keys',
    'data:application/json,{"keys":[]}',
  ])('on https cannot send the core to %s', async (jwks_uri) => {
    const seen: string[] = []
    const fetch: Fetch = async (input) => {
      seen.push(String(input))
      return Response.json({ issuer: 'https://issuer.example.org', jwks_uri, keys: [jwk] })
    }
    const verify = verifier(fetch, 'https://issuer.example.org')
    await expect(verify(await token('https://issuer.example.org'))).rejects.toMatchObject({ message: UNREADABLE })
    expect(seen).toEqual([`https://issuer.example.org${DISCOVERY}`])
  })

  it('may publish keys of other kinds beside the right one', async () => {
    routes['/keys'] = json(() => ({
      keys: [
        { kty: 'oct', k: 'c2VjcmV0', kid: 'one' },
        { kid: 'one' },
        { kty: 'new', kid: 'one' },
        { ...jwk, use: 'enc' },
        jwk,
      ],
    }))
    await expect(verifier()(await token())).resolves.toMatchObject({ sub: 'ada' })
  })

  it('with a key that is too weak vouches for nobody', async () => {
    routes['/keys'] = json(() => ({ keys: [{ ...jwk, n: 'AQAB' }] }))
    await expect(verifier()(await token())).rejects.toMatchObject({ status: 401 })
  })
})
