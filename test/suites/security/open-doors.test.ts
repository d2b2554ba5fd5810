import { request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startCollector } from '../../../dev/collector/start.ts'
import { startStack } from '../../../dev/stack/start-stack.ts'
import { createApp } from '../../../routes/app.ts'
import { serve } from '../../../src/runtime/serve.ts'
import { configOf, provideCore } from '../../helpers/core.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { startLogging } from '../../helpers/logging-process.ts'
import { attack } from './attack.ts'

const GROUP = 'pages in a browser on the same machine'
const core = provideCore()
const folder = temporaryFolder()

/** Serves the core on a free port, and returns a function that asks it as a browser does that was given this name. */
async function serving(yaml = '') {
  const app = createApp({ ...core.context, config: await configOf(yaml) })
  const server = await serve((asked, peer) => app.fetch(asked, { peer }), { port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => server.close(0))
  return (host: string, path = '/api/v1/users/me', method = 'GET') => ask(server.url, { host, path, method })
}

const ask = (url: string, options: { host: string; path: string; method: string; body?: string; origin?: string }) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { host, path, method, body, origin } = options
    const sent = request(url, { method, path, headers: { host, ...(origin && { origin }) } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end(body)
  })

const REBOUND = [
  'attacker.example',
  'attacker.example:8000',
  'localhost.attacker.example',
  '127.0.0.1.attacker.example',
]
for (const host of REBOUND)
  attack(GROUP, `a name that was made to resolve to this machine: ${host}`, async () => {
    const askAs = await serving()
    for (const [path, method] of [
      ['/api/v1/users/me', 'GET'],
      ['/v1/admin/users', 'GET'],
      ['/api/v1/iac/generate', 'POST'],
      ['/api/v1/iac/generate', 'OPTIONS'],
      ['/console/', 'GET'],
    ] as const)
      expect([path, (await askAs(host, path, method)).status]).toEqual([path, 421])
    const { status, text } = await askAs(host)
    expect(JSON.parse(text).detail).toContain('http.allowed_hosts')
    return `${status}, before anything is looked at`
  })

test('this machine, addresses and allowed names are served, and health under every name', async () => {
  const askAs = await serving('http: { allowed_hosts: [Platform.example] }')
  for (const host of ['localhost', 'localhost:8000', 'core.localhost', '127.0.0.1:8000', '[::1]:8000', '192.0.2.7'])
    expect([host, (await askAs(host)).status]).toEqual([host, 200])
  for (const host of ['platform.example', 'PLATFORM.example:8443', 'platform.example.'])
    expect([host, (await askAs(host)).status]).toEqual([host, 200])
  expect((await askAs('other.example')).status).toBe(421)
  for (const path of ['/healthz', '/readyz']) expect((await askAs('10-0-0-7.pod.cluster', path)).status).not.toBe(421)
})

test('with sign-in the name does not matter, because the token does', async () => {
  const askAs = await serving('oidc: { issuer_url: "https://issuer.example.org", client_id: core }')
  expect((await askAs('platform.example')).status).toBe(401)
})

/** Starts a sidecar as a process; returns a function that asks it as a browser or a program does. */
async function servingSidecar(env: Record<string, string>) {
  const sidecar = startLogging(['sidecars/main.ts', 'mapping'], { PLATFORM_PORT: '0', ...env })
  onTestFinished(() => void sidecar.child.kill('SIGKILL'))
  const url = String((await sidecar.said('mapping service ready')).url).replace('0.0.0.0', '127.0.0.1')
  const body = '{"identifier": "anything"}'
  return (host: string, origin?: string) => ask(url, { host, path: '/v1/resolve', method: 'POST', body, origin })
}

attack(GROUP, 'a sidecar without a token, by a name that was made to resolve to it, and by a form', async () => {
  const askAs = await servingSidecar({})
  for (const host of REBOUND) expect([host, (await askAs(host)).status]).toEqual([host, 421])
  for (const origin of ['https://attacker.example', 'http://attacker.example:8081', 'null'])
    expect([origin, (await askAs('localhost:8081', origin)).status]).toEqual([origin, 421])
  return (await askAs('attacker.example')).text
})

test('programs of this machine ask a sidecar without a token, and a token makes names and origins matter not', async () => {
  const open = await servingSidecar({})
  for (const host of ['localhost:8081', '127.0.0.1', '[::1]:8081', 'mapping.localhost'])
    expect([host, (await open(host)).status]).toEqual([host, 200])
  expect((await open('localhost', 'http://localhost:3000')).status).toBe(200)
  const told = await servingSidecar({ PLATFORM_HOST: '0.0.0.0' })
  expect((await told('mapping:8081')).status).toBe(200)
  const closed = await servingSidecar({ PLATFORM_MAPPING_TOKEN: 'a token' })
  expect((await closed('mapping:8081', 'https://attacker.example')).status).toBe(401)
})

attack(GROUP, 'writing prompts, and reading what models were told, without a token', async () => {
  const collector = await startCollector({ token: 'of the stack', data_dir: folder })
  onTestFinished(() => collector.close())
  const paths = [
    ['POST', 'prompts'],
    ['POST', 'prompt_versions/1/tags'],
    ['DELETE', 'prompts/aws-guidelines-networking'],
    ['GET', 'prompts/aws-guidelines-networking/latest'],
    ['GET', 'sessions/one/spans'],
    ['POST', 'traces'],
  ] as const
  for (const authorization of [undefined, 'Bearer wrong', 'of the stack'])
    for (const [method, path] of paths) {
      const headers = authorization === undefined ? undefined : { authorization }
      const { status } = await fetch(`${collector.url}/v1/${path}`, { method, ...(headers && { headers }) })
      expect([method, path, status]).toEqual([method, path, 401])
    }
  const headers = { authorization: 'Bearer of the stack' }
  expect((await fetch(`${collector.url}/v1/sessions/one/spans`, { headers })).status).toBe(200)
  return '401: The bearer token is missing or wrong.'
})

attack(
  GROUP,
  'the prompt registry of npm start, without a token',
  async () => {
    const stack = await startStack({
      folder: join(folder, 'stack'),
      env: { ...process.env, PLATFORM_PORT: '0' },
      embedded: true,
    })
    onTestFinished(() => stack.stop())
    const url = `${stack.collector_url}v1/prompts`
    const { status } = await fetch(url, { method: 'POST', body: '{}' })
    expect(status).toBe(401)
    const rebound = await ask(stack.url, { host: 'attacker.example', path: '/api/v1/users/me', method: 'GET' })
    expect(rebound.status).toBe(421)
    expect((await fetch(`${stack.url}/api/v1/users/me`)).status).toBe(200)
    return 'the registry wants the token of the stack, which seeds its prompts with it'
  },
  { timeoutMs: 120_000 },
)
