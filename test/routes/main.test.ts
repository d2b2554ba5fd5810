import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startObjectStore } from '../../dev/object-store.ts'
import { startRespServer } from '../data/cache/resp-server.ts'
import { ENVIRONMENT } from '../helpers/core.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

interface Outcome {
  code: number
  out: string
  err: string
}

const core = (args: string[], env: Record<string, string>): Promise<Outcome> =>
  new Promise((resolve) => {
    const options = {
      env: { PATH: process.env.PATH, PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: '0', ...env },
      timeout: 50_000,
    }
    execFile(process.execPath, ['routes/main.ts', ...args], options, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
    )
  })
const lastMessage = ({ out }: Outcome): string => JSON.parse(out.trim().split('\n').at(-1) ?? '{}').message

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(`${tmpdir()}/core-main-`)
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

describe('npm run core', () => {
  it('explains itself', async () => {
    const { code, out } = await core(['--help'], {})
    expect(code).toBe(0)
    for (const word of ['--check-config', 'PLATFORM_CONFIG', 'PLATFORM_PORT', 'PLATFORM_HOST'])
      expect(out).toContain(word)
  })

  it('refuses arguments it does not know', async () => {
    expect(await core(['--chekc-config'], {})).toMatchObject({
      code: 1,
      err: expect.stringContaining('--chekc-config'),
    })
  })

  it('shows the effective configuration without its secrets', async () => {
    const { code, out } = await core(['--check-config'], { ...ENVIRONMENT, GIT_TOKEN: 'very-secret-token' })
    expect(code).toBe(0)
    expect(out).toContain('max_tool_agent_executions: 40')
    expect(out).not.toContain('very-secret-token')
  })

  it('lists the rules with the severities in force', async () => {
    await writeFile(`${folder}/rules.yaml`, 'rules: {aws.iam.*: off}')
    await writeFile(`${folder}/config.yaml`, `orchestration: {rules_file: ${folder}/rules.yaml}`)
    const { code, out } = await core(['--rules'], { ...ENVIRONMENT, PLATFORM_CONFIG: `${folder}/config.yaml` })
    expect(code).toBe(0)
    expect(out).toMatch(/^off +aws\.iam\.admin-policy +\S/m)
    expect(out).toMatch(/^critical +aws\.network\.open-all-ports +\S/m)
  })

  it('shows all errors of the configuration together', async () => {
    for (const args of [['--check-config'], []]) {
      const { code, out, err } = await core(args, {})
      expect(code).toBe(1)
      expect(out + err).toContain('LLM credentials missing from environment: ANTHROPIC_API_KEY.')
      expect(out + err).toContain('Missing env variable for platform database')
    }
  })

  it('refuses a port that is none', async () => {
    const outcome = await core([], { ...ENVIRONMENT, PLATFORM_PORT: '80 80' })
    expect(outcome).toMatchObject({
      code: 1,
      err: expect.stringContaining("PLATFORM_PORT must be a port number, got '80 80'."),
    })
  })

  it('ends when database or cache cannot be reached', async () => {
    const nowhere = {
      PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody:pw@127.0.0.1:1/none',
      PLATFORM_REDIS_URL: 'redis://127.0.0.1:1/0',
    }
    const no_database = await core([], { ...ENVIRONMENT, ...nowhere })
    expect([no_database.code, lastMessage(no_database)]).toEqual([
      1,
      expect.stringMatching(/^Failed to initialize database: /),
    ])
    const no_cache = await core([], { ...ENVIRONMENT, ...nowhere, PLATFORM_SQL_DATABASE_URL: database.url })
    expect([no_cache.code, lastMessage(no_cache)]).toEqual([1, expect.stringMatching(/^Failed to initialize redis: /)])
  })

  it('ends when its port is taken', async () => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    const address = holder.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const [objects, redis] = [
      await startObjectStore({ access_key: 'bundledadmin', secret_key: 'bundledadmin' }),
      await startRespServer(),
    ]
    const config = `${folder}/config.yaml`
    await writeFile(
      config,
      `storage: { endpoint_url: "${objects.url}", public_endpoint_url: "${objects.url}" }\n` +
        'telemetry: { collector_url: "" }\n',
    )
    const outcome = await core([], {
      ...ENVIRONMENT,
      PLATFORM_SQL_DATABASE_URL: database.url,
      PLATFORM_REDIS_URL: redis.url,
      PLATFORM_CONFIG: config,
      PLATFORM_PORT: String(port),
    })
    expect([outcome.code, lastMessage(outcome)]).toEqual([1, expect.stringContaining('EADDRINUSE')])
    await Promise.all([objects.close(), redis.close()])
    holder.close()
  })
})
