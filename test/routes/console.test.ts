import { request } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { ConsoleFile, ConsoleFiles } from '../../src/data/console-files.ts'
import { keepConsoleFiles } from '../../src/data/console-files.ts'
import { serve } from '../../src/runtime/serve.ts'
import { callOf, createTestCore } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { startOnce } from '../helpers/start-once.ts'

const file = (text: string, content_type: string): ConsoleFile => ({
  content_type,
  identity: new TextEncoder().encode(text),
  br: new TextEncoder().encode(`br of ${text}`),
  gzip: new Uint8Array(gzipSync(text)),
})
const MAIN = 'assets/main-1A2B3C4D.js'
const build = (name: string): ConsoleFiles =>
  new Map([
    ['index.html', file(`page of ${name}`, 'text/html; charset=utf-8')],
    ['silent.html', file('frame', 'text/html; charset=utf-8')],
    [MAIN, file('main()', 'text/javascript; charset=utf-8')],
    [`assets/${name}-5E6F7G8H.js`, file(`${name}()`, 'text/javascript; charset=utf-8')],
  ])
const YAML = `
http:
  console_examples:
    - { mode: drift, text: What differs?, repo_uri: "https://git.example.com/a.git", scope_id: "1", engine_providers: aws }
`

const core = startOnce(() => createTestCore({ yaml: YAML, context: { console: build('early') } }))

const get = (path: string, headers: Record<string, string> = {}) => core.call('GET', path, { headers })

describe('GET /console/', () => {
  it('answers the page, also for the addresses of screens, and nobody keeps it', async () => {
    for (const path of ['/console/', '/console/sessions', '/console/sessions/9f0c/replay/2?step=4']) {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).toBe('page of early')
    }
  })

  it('answers files that are named by their content for good', async () => {
    const answer = await get(`/console/${MAIN}`)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; script-src 'self'")
  })

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['identity', null],
    ['', null],
    ['brotli, xgzip', null],
    ['BR', 'br'],
  ])('answers %j with the form that it asks for', async (accepted, encoding) => {
    const answer = await get(`/console/${MAIN}`, { 'accept-encoding': accepted })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    expect(answer.headers.get('vary')).toContain('Accept-Encoding')
    const body = new Uint8Array(await answer.arrayBuffer())
    const text = new TextDecoder().decode(encoding === 'gzip' ? gunzipSync(body) : body)
    expect(text).toBe(encoding === 'br' ? 'br of main()' : 'main()')
  })

  it('answers HEAD without a body', async () => {
    for (const path of ['/console/', `/console/${MAIN}`]) {
      const answer = await core.call('HEAD', path)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toBe('')
    }
  })

  it.each([
    'unknown.js',
    'assets/main-00000000.js',
    'assets/main-1A2B3C4D.js.br',
    'assets/',
    '..%2fpackage.json',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    'assets%2Fmain-1A2B3C4D.js',
    'sessions%00',
    'sessions%0d%0ax: y',
    'a%5cb',
    '%F0%9F%98%80',
  ])('answers 404 to %s', async (path) => {
    const answer = await get(`/console/${path}`)
    if (path === 'assets/') expect(await answer.text()).toBe('page of early')
    else {
      expect(answer.status).toBe(404)
      expect(await answer.json()).toEqual({ detail: 'Not Found' })
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  it('answers 404 to dot segments that no client has resolved', async () => {
    const running = await serve((given, peer) => core.app.fetch(given, { peer }), { port: 0, hostname: '127.0.0.1' })
    const statusOf = (path: string) =>
      new Promise<number>((resolve, reject) =>
        request(running.url, { path }, (answer) => resolve(answer.resume().statusCode ?? 0))
          .on('error', reject)
          .end(),
      )
    try {
      expect(await statusOf('/console/../package.json')).toBe(404)
      expect(await statusOf('/console/../../etc/passwd')).toBe(404)
      expect(await statusOf('/console/assets/../../../package.json')).toBe(404)
      expect(await statusOf('/console/')).toBe(200)
    } finally {
      await running.close(0)
    }
  })

  it('says where the API is, how to sign in, and which requests it offers', async () => {
    const answer = await get('/console/config.json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const auth = await (await get('/api/v1/auth/config')).json()
    expect(await answer.json()).toMatchObject({
      api_url: '/api/v1',
      examples: [{ mode: 'drift' }],
      auth,
      token: 'access',
    })
  })
})

describe('GET /', () => {
  it('leads a browser to the console', async () => {
    const answer = await get('/', { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe('/console/')
    const bare = await get('/console?round=2')
    expect([bare.status, bare.headers.get('location')]).toEqual([308, '/console/?round=2'])
  })

  it.each([
    '*/*',
    'application/json',
    'text/html;q=0, application/json',
    '',
  ])('answers everybody else (%j) as before', async (accept) => {
    const answer = await get('/', { accept })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ detail: 'Not Found' })
  })
})

describe('without a console', () => {
  it.each([
    '/',
    '/console',
    '/console/',
    '/console/config.json',
    `/console/${MAIN}`,
  ])('%s is as unknown as any path', async (path) => {
    const bare = callOf(await core.another({ context: { console: null } }))
    const answer = await bare('GET', path, { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ detail: 'Not Found' })
  })
})

describe('the policy of the page', () => {
  const server = interceptRequests()
  const directives = async (yaml: string, env: Record<string, string> = {}) => {
    const call = callOf(await core.another({ yaml, env }))
    const policy = (await call('GET', '/console/')).headers.get('content-security-policy') ?? ''
    return Object.fromEntries(
      policy.split('; ').map((text) => [text.split(' ')[0], text.split(' ').slice(1).join(' ')]),
    )
  }
  const issuerSays = (document: object, url = 'https://id.example.org') =>
    server.use(http.get(`${url}/.well-known/openid-configuration`, () => HttpResponse.json(document)))

  it('allows nothing but what the console needs', async () => {
    expect(await directives('http: {}')).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'font-src': "'self'",
      'worker-src': "'self'",
      'connect-src': "'self' http://localhost:9000",
      'frame-src': "'self'",
      'frame-ancestors': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'object-src': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': 'default',
    })
  })

  it('names the store of each provider as browsers reach it', async () => {
    const s3 = 'storage: { provider: S3, bucket: artifacts, region: eu-central-1 }'
    expect((await directives(s3))['connect-src']).toBe("'self' https://artifacts.s3.eu-central-1.amazonaws.com")
    const account =
      'storage: { provider: STORAGE_ACCOUNT, endpoint_url: "https://acme.blob.core.windows.net", engine_state_bucket: "" }'
    const env = { STORAGE_ACCOUNT_KEY: Buffer.from('key').toString('base64') }
    expect((await directives(account, env))['connect-src']).toBe("'self' https://acme.blob.core.windows.net")
    const bundled = 'storage: { public_endpoint_url: "https://files.example.com/minio" }'
    expect((await directives(bundled))['connect-src']).toBe("'self' https://files.example.com")
  })

  const OIDC = 'oidc: { issuer_url: "https://id.example.org", client_id: web }'

  it('names the hosts on which the identity provider has its endpoints', async () => {
    issuerSays({
      issuer: 'https://id.example.org',
      jwks_uri: 'https://keys.example.org/set',
      authorization_endpoint: 'https://login.example.org/auth',
      token_endpoint: 'https://tokens.example.org/token',
    })
    expect(await directives(OIDC)).toMatchObject({
      'connect-src': "'self' http://localhost:9000 https://id.example.org https://tokens.example.org",
      'frame-src': "'self' https://id.example.org https://login.example.org",
    })
  })

  it('takes no address from the provider that would loosen it', async () => {
    issuerSays({
      jwks_uri: 'https://id.example.org/keys',
      authorization_endpoint: 'https://a;script-src/auth',
      token_endpoint: 'http://plain.example.org/token',
    })
    expect(await directives(OIDC)).toMatchObject({
      'script-src': "'self'",
      'connect-src': "'self' http://localhost:9000 https://id.example.org",
      'frame-src': "'self' https://id.example.org",
    })
  })

  it('answers the page while the identity provider is away, and asks it again later', async () => {
    let asked = 0
    server.use(
      http.get('https://id.example.org/.well-known/openid-configuration', () => {
        asked++
        return new HttpResponse(null, { status: 503 })
      }),
    )
    let now = Date.now()
    const call = callOf(await core.another({ yaml: OIDC, context: { now: () => new Date(now) } }))
    const policy = async () => (await call('GET', '/console/')).headers.get('content-security-policy')
    expect(await policy()).toContain("connect-src 'self' http://localhost:9000 https://id.example.org;")
    await policy()
    expect(asked).toBe(1)
    now += 11_000
    issuerSays({ jwks_uri: 'https://id.example.org/keys', token_endpoint: 'https://tokens.example.org/token' })
    expect(await policy()).toContain('https://tokens.example.org')
  })
})

describe('files of earlier builds', () => {
  it('are answered by a core of another build, and the other way round', async () => {
    const late = await core.another({ context: { console: build('late') } })
    const old = 'assets/early-5E6F7G8H.js'
    expect((await callOf(late)('GET', `/console/${old}`)).status).toBe(404)
    await keepConsoleFiles(core.database.sql, build('early'))
    await keepConsoleFiles(core.database.sql, build('late'))
    const answer = await callOf(late)('GET', `/console/${old}`, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe('early()')
    const other = await get('/console/assets/late-5E6F7G8H.js')
    expect([other.status, await other.text()]).toEqual([200, 'late()'])
  })

  it('cost nothing else when the database is away', async () => {
    const away = async () => {
      throw new Error('connection refused')
    }
    const sql = Object.assign(away, core.context.sql, { begin: away }) as never
    const call = callOf(await core.another({ context: { sql } }))
    expect((await call('GET', '/console/')).status).toBe(200)
    expect((await call('GET', `/console/${MAIN}`)).status).toBe(200)
    expect((await call('GET', '/console/assets/other-5E6F7G8H.js')).status).toBe(500)
  })

  it('are looked up by names of the build’s form only', async () => {
    const texts: string[] = []
    const sql = Object.assign((strings: TemplateStringsArray, ...values: never[]) => {
      texts.push(strings.join('?'))
      return core.context.sql(strings, ...values)
    }, core.context.sql) as never
    const call = callOf(await core.another({ context: { sql } }))
    for (const path of ['assets/x.js', 'assets/x-5E6F7G8H.php', 'assets/x-5e6F7g8h.js', 'assets/a/b-5E6F7G8H.js'])
      expect((await call('GET', `/console/${path}`)).status).toBe(404)
    expect(texts).toEqual([])
    await call('GET', '/console/assets/x-5E6F7G8H.js')
    expect(texts).toHaveLength(1)
  })
})
