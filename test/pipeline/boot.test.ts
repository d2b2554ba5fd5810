import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { startCache } from '../../dev/cache.ts'
import { startObjectStore } from '../../dev/object-store.ts'
import { useFolder } from '../helpers/folder.ts'
import { provideDatabase } from '../helpers/postgres.ts'

const MAIN = fileURLToPath(new URL('../../pipeline/main.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const KEYS = { access_key: 'access-key-1', secret_key: 'secret-key-1' }

const folder = useFolder()
const db = provideDatabase()
let closed_port: number
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closed_port = (server.address() as AddressInfo).port
  await once(server.close(), 'close')
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Starts a worker process without the environment of the tests. */
async function boot(env: Record<string, string>, storage_url = `http://127.0.0.1:${closed_port}`, args: string[] = []) {
  const config = join(folder.path, 'platform.yaml')
  const urls = { endpoint_url: storage_url, public_endpoint_url: storage_url }
  const storage = { provider: 'BUNDLED', bucket: 'artifacts', ...urls, max_attempts: 1 }
  await writeFile(config, stringify({ storage, paths: { upload_folder: join(folder.path, 'work') } }))
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: folder.path, PLATFORM_CONFIG: config, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  closers.push(async () => child.kill('SIGKILL'))
  let output = ''
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`
      if (line.includes('"worker ready"')) resolve()
    })
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const exited = once(child, 'close').then(([code]) => ({ code, output }))
  return { child, ready, exited, output: () => output }
}

const cache = async () => {
  const server = await startCache({ token: 'cache-token-1' })
  closers.push(() => server.close())
  return server.platform_url
}

const environment = (over: Record<string, string> = {}): Record<string, string> => ({
  PLATFORM_SQL_DATABASE_URL: db.url,
  PLATFORM_REDIS_URL: `http://default:cache-token-1@127.0.0.1:${closed_port}`,
  PLATFORM_IAC_TOKEN: 'iac-token-1',
  ANTHROPIC_API_KEY: 'anthropic-key-1',
  BUNDLED_ACCESS_KEY: KEYS.access_key,
  BUNDLED_SECRET_KEY: KEYS.secret_key,
  ...over,
})

describe('the worker process', () => {
  it.each(['--help', '-h'])('explains itself with %s, whatever is configured', async (argument) => {
    const { code, output } = await (await boot({}, undefined, [argument])).exited
    expect(code).toBe(0)
    for (const word of ['npm run worker', 'PLATFORM_CONFIG']) expect(output).toContain(word)
  })

  it('refuses an argument that it does not know', async () => {
    const { code, output } = await (await boot(environment(), undefined, ['--check-config'])).exited
    expect(code).toBe(1)
    expect(output).toContain('--check-config')
  })

  it('says everything that is wrong with its configuration and ends', async () => {
    const { code, output } = await (await boot({})).exited
    expect(code).toBe(1)
    expect(output).toContain('Missing env variable for platform database')
  })

  const refusingUrl = () => `postgresql://platform:hidden-password@127.0.0.1:${closed_port}/platform`
  it.each([
    ['database', async () => ({ PLATFORM_SQL_DATABASE_URL: refusingUrl() }), /.*ECONNREFUSED/, 'hidden-password'],
    ['redis', async () => ({}), /./, 'cache-token-1'],
    ['object storage', async () => ({ PLATFORM_REDIS_URL: await cache() }), /./, KEYS.secret_key],
  ])('ends when its %s cannot be reached, without showing the secret', async (name, env, reason, secret) => {
    const { code, output } = await (await boot(environment(await env()))).exited
    expect(code).toBe(1)
    expect(output).toMatch(new RegExp(`Failed to initialize ${name}: ${reason.source}`))
    expect(output).not.toContain(secret)
  })

  it('starts when all are there, and ends in order', async () => {
    const store = await startObjectStore({ ...KEYS, data_dir: join(folder.path, 'objects') })
    closers.push(() => store.close())
    const { child, ready, exited, output } = await boot(environment({ PLATFORM_REDIS_URL: await cache() }), store.url)
    await Promise.race([ready, exited.then(() => Promise.reject(new Error(output())))])
    child.kill('SIGTERM')
    const end = await exited
    expect(end.code).toBe(0)
    expect(end.output).toContain('"stopped"')
    expect(end.output.match(/storage\.state_credentials is static: /g)).toHaveLength(1)
  })
})
