import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startObjectStore } from '../../dev/object-store.ts'
import { listen } from '../../dev/server.ts'
import { startRespServer } from '../data/cache/resp-server.ts'
import { ENVIRONMENT } from '../helpers/core.ts'
import { runCore } from '../helpers/core-process.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { provideDatabase } from '../helpers/postgres.ts'

const database = provideDatabase()
const folder = temporaryFolder()

describe('npm run core', () => {
  it('explains itself', async () => {
    const { code, out } = await runCore({}, '--help')
    expect(code).toBe(0)
    for (const word of ['--check-config', '--check-token', 'PLATFORM_CONFIG', 'PLATFORM_PORT', 'PLATFORM_HOST'])
      expect(out).toContain(word)
  })

  it('refuses arguments it does not know', async () => {
    expect(await runCore({}, '--chekc-config')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--chekc-config'),
    })
  })

  it('shows the effective configuration without its secrets', async () => {
    const { code, out } = await runCore({ ...ENVIRONMENT, GIT_TOKEN: 'very-secret-token' }, '--check-config')
    expect(code).toBe(0)
    expect(out).toContain('max_tool_agent_executions: 40')
    expect(out).not.toContain('very-secret-token')
  })

  it('lists the rules with the severities in force', async () => {
    await writeFile(`${folder}/rules.yaml`, 'rules: {aws.iam.*: off}')
    await writeFile(`${folder}/config.yaml`, `orchestration: {rules_file: ${folder}/rules.yaml}`)
    const { code, out } = await runCore({ ...ENVIRONMENT, PLATFORM_CONFIG: `${folder}/config.yaml` }, '--rules')
    expect(code).toBe(0)
    expect(out).toMatch(/^off +aws\.iam\.admin-policy +\S/m)
    expect(out).toMatch(/^critical +aws\.network\.open-all-ports +\S/m)
  })

  it('shows all errors of the configuration together', async () => {
    for (const args of [['--check-config'], []]) {
      const { code, out, err } = await runCore({}, ...args)
      expect(code).toBe(1)
      expect(out + err).toContain('LLM credentials missing from environment: ANTHROPIC_API_KEY.')
      expect(out + err).toContain('Missing env variable for platform database')
    }
  })

  it('refuses a port that is none', async () => {
    const outcome = await runCore({ ...ENVIRONMENT, PLATFORM_PORT: '80 80' })
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
    const failure = (part: string) => ({ code: 1, message: expect.stringMatching(`^Failed to initialize ${part}: `) })
    expect(await runCore({ ...ENVIRONMENT, ...nowhere })).toMatchObject(failure('database'))
    const no_cache = { ...ENVIRONMENT, ...nowhere, PLATFORM_SQL_DATABASE_URL: database.url }
    expect(await runCore(no_cache)).toMatchObject(failure('redis'))
  })

  it('ends when its port is taken', async () => {
    const holder = await listen(createServer())
    const objects = await startObjectStore({ access_key: 'bundledadmin', secret_key: 'bundledadmin' })
    const redis = await startRespServer()
    const config = `${folder}/config.yaml`
    await writeFile(
      config,
      `storage: { endpoint_url: "${objects.url}", public_endpoint_url: "${objects.url}" }\n` +
        'telemetry: { collector_url: "" }\n',
    )
    const outcome = await runCore({
      ...ENVIRONMENT,
      PLATFORM_SQL_DATABASE_URL: database.url,
      PLATFORM_REDIS_URL: redis.url,
      PLATFORM_CONFIG: config,
      PLATFORM_PORT: String(holder.port),
    })
    expect(outcome).toMatchObject({ code: 1, message: expect.stringContaining('EADDRINUSE') })
    await Promise.all([objects.close(), redis.close(), holder.close()])
  })
})
