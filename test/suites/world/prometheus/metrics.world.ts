import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../../../../dev/demo/api.ts'
import { findExample } from '../../../../dev/demo/options.ts'
import { type Stack, startStack } from '../../../../dev/stack/start-stack.ts'

const LIMIT_MS = 240_000
const SCOPE = { scope_id: '123456789012', engine_providers: 'aws' }
/** Address of `/metrics` by the name of the process. */
const addresses = new Map<string, string>()
let stack: Stack
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-metrics-'))
  stack = await startStack({
    folder,
    env: { ...process.env, PLATFORM_PORT: '0', PLATFORM_METRICS_PORT: '0' },
    embedded: true,
    onLine: (name, line) => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(/"metrics":"[^"]+"|"message":"metrics".*/.exec(line)?.[0] ?? '')
      if (found) addresses.set(name, found[0])
    },
  })
  await playRounds()
}, LIMIT_MS)
afterAll(async () => {
  await stack?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** A round that comes to its end, one that is declined, and requests that are refused. */
async function playRounds(): Promise<void> {
  const api = createApi(stack.url, AbortSignal.timeout(LIMIT_MS))
  for (const mode of ['generate', 'declined'] as const) {
    const { route, request, sample, iac_path } = findExample(mode)
    const repo_uri = stack.git_host?.repositories.find((address) => address.endsWith(`/${sample}.git`))
    const id = await api.schedule(route, { q: request, repo_uri, iac_path, ...SCOPE })
    const seen: string[] = []
    for await (const status of api.events(id)) seen.push(status)
    expect(seen.at(-1)).toBe(mode === 'generate' ? 'COMPLETED' : 'UNCOMPLETED')
  }
  for (const path of ['/api/v1/sessions?id=x', '/api/v1/nothing', '/healthz', '/'])
    await fetch(`${stack.url}${path}`, { method: path === '/healthz' ? 'POST' : 'GET' })
}

const judge = (text: string, ...options: string[]): Promise<{ code: number; told: string; table: string }> =>
  new Promise((resolve, reject) => {
    const args = ['check', 'metrics', ...options]
    const child = execFile(process.env.PROMTOOL ?? '', args, { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error)
      else resolve({ code: Number(error?.code ?? 0), told: stderr, table: stdout })
    })
    child.stdin?.end(text)
  })

describe('metrics as Prometheus reads them', () => {
  it.each(['core', 'worker'])('of the %s are right after rounds, and follow the conventions', async (name) => {
    const answer = await fetch(`${addresses.get(name)}/metrics`, {
      headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1' },
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    const text = await answer.text()
    expect(text.match(/^# TYPE platform_/gm)?.length).toBeGreaterThan(3)
    expect(await judge(text)).toEqual({ code: 0, told: '', table: '' })
  })

  it('have few series', async () => {
    for (const address of addresses.values()) {
      const { code, table } = await judge(await (await fetch(`${address}/metrics`)).text(), '--extended')
      expect(code).toBe(0)
      const rows = [...table.matchAll(/^(platform_\w+)\s+(\d+)/gm)]
      expect(rows.length).toBeGreaterThan(3)
      for (const [, metric, series] of rows) expect(Number(series), metric).toBeLessThan(500)
    }
  })

  it('that are wrong would be seen', async () => {
    expect(await judge('platform_bad{x="1" 2\n')).toMatchObject({ code: 1 })
    const unusual = '# TYPE platform_calls counter\nplatform_calls 1\n'
    expect((await judge(unusual)).told).toContain('platform_calls')
  })
})
