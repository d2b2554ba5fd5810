import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCache } from '../../dev/cache.ts'
import { startCollector } from '../../dev/collector/start.ts'
import { startObjectStore } from '../../dev/object-store.ts'
import { listen } from '../../dev/server.ts'
import { ENVIRONMENT } from '../helpers/core.ts'
import { runCore, startCoreProcess } from '../helpers/core-process.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { provideDatabase } from '../helpers/postgres.ts'
import { startOnce } from '../helpers/start-once.ts'

const database = provideDatabase()
const folder = temporaryFolder()
const objects = startOnce(() => startObjectStore({ access_key: 'bundledadmin', secret_key: 'bundledadmin' }))
const cache = startOnce(() => startCache({ token: 'cache-token' }))

/** Creates a registry that answers by `respond`, and records its calls. */
async function registry(respond: (call: string) => { status: number; json?: unknown }) {
  const calls: string[] = []
  const server = createServer((request, response) => {
    const call = `${request.method} ${request.url}`
    calls.push(call)
    const { status, json } = respond(call)
    response.writeHead(status).end(json === undefined ? '' : JSON.stringify(json))
  })
  const running = await listen(server)
  onTestFinished(() => running.close())
  return { ...running, calls }
}

async function environment(collector_url: string, storage_url = objects.url): Promise<Record<string, string>> {
  const path = `${folder}/${crypto.randomUUID()}.yaml`
  const storage = `storage: { endpoint_url: "${storage_url}", public_endpoint_url: "${storage_url}", max_attempts: 1 }`
  await writeFile(path, `${storage}\ntelemetry: { collector_url: "${collector_url}" }\n`)
  return {
    ...ENVIRONMENT,
    PLATFORM_SQL_DATABASE_URL: database.url,
    PLATFORM_REDIS_URL: cache.platform_url,
    PLATFORM_CONFIG: path,
    PLATFORM_COLLECTOR_API_KEY: 'key-of-the-collector',
  }
}

describe('a core with a prompt registry', () => {
  it('seeds it before it listens', async () => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    const core = await startCoreProcess(await environment(collector.collector_url))
    const messages = core.messages()
    expect(messages.indexOf('prompts seeded')).toBeGreaterThan(-1)
    expect(messages.indexOf('prompts seeded')).toBeLessThan(messages.indexOf('core ready'))
    expect(collector.prompts.tagged('general-guidelines-engine', 'production')).toMatchObject({
      data: { model_name: 'platform-seed' },
    })
    expect(await core.stop()).toBe(0)
  })

  it('does not start when the registry refuses the probe', async () => {
    const { url, calls } = await registry(() => ({ status: 503 }))
    const { code, message, out } = await runCore(await environment(`${url}/`))
    expect([code, message]).toEqual([1, `Failed to seed prompts into ${url}/: ${url}/ probe failed: HTTP 503`])
    expect(calls).toEqual([expect.stringMatching(/^GET \/v1\/prompts\/[a-z-]+\/latest$/)])
    expect(out).not.toContain('key-of-the-collector')
  })

  it('does not start when a prompt cannot be created', async () => {
    const { url } = await registry((call) =>
      call.startsWith('POST') ? { status: 422, json: { detail: 'no' } } : { status: 404 },
    )
    const { code, message } = await runCore(await environment(`${url}/`))
    expect(code).toBe(1)
    expect(message).toMatch(
      /^Failed to seed prompts into \S+: Failed to create prompt '[a-z0-9_-]+': HTTP 422: \{"detail":"no"\}$/,
    )
  })

  it('does not start when a prompt cannot be tagged', async () => {
    const created = { data: { id: 'v1', model_name: 'platform-seed', template: { messages: [] } } }
    const { url } = await registry((call) =>
      call === 'POST /v1/prompts' ? { status: 200, json: created } : { status: 404 },
    )
    const { code, message } = await runCore(await environment(`${url}/`))
    expect(code).toBe(1)
    expect(message).toMatch(/^Failed to seed prompts into \S+: Failed to tag '[a-z0-9_-]+' as development: HTTP 404$/)
  })

  it('asks it after the object storage', async () => {
    const { url, calls } = await registry(() => ({ status: 404 }))
    const { code, message } = await runCore(await environment(`${url}/`, 'http://127.0.0.1:1'))
    expect([code, message]).toEqual([1, expect.stringMatching(/^Failed to initialize object storage: /)])
    expect(calls).toEqual([])
  })
})
