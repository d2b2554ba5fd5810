import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Collector, startCollector } from '../../../../dev/collector/start.ts'
import { type Api, createApi } from '../../../../dev/demo/api.ts'
import { type DemoMode, findExample } from '../../../../dev/demo/options.ts'
import { type Stack, startStack } from '../../../../dev/stack/start-stack.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const LIMIT_MS = 240_000
const SCOPE = { scope_id: '123456789012', engine_providers: 'aws' }
const logs: Record<string, unknown>[] = []
let folder: string
let receiver: Receiver
let registry: Collector
let front: Awaited<ReturnType<typeof startFront>>
let stack: Stack
let api: Api

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-collector-'))
  receiver = await startReceiver(process.env.OTEL_COLLECTOR ?? '', join(folder, 'collector'))
  registry = await startCollector()
  front = await startFront((path) => (path === '/v1/traces' ? receiver.url : registry.url))
  const config = join(folder, 'platform.yaml')
  await writeFile(config, `telemetry: { collector_url: "${front.url}/" }\n`)
  const { PATH = '', HOME = '' } = process.env
  stack = await startStack({
    folder: join(folder, 'stack'),
    env: { PATH, HOME, PLATFORM_PORT: '0', PLATFORM_CONFIG: config },
    onLine: (process, line) => {
      if (line.startsWith('{')) logs.push({ ...JSON.parse(line), process })
    },
  })
  api = createApi(stack.url, AbortSignal.timeout(LIMIT_MS))
}, LIMIT_MS)
afterAll(async () => {
  await stack?.stop()
  await front?.close()
  await registry?.close()
  await receiver?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The one address of the configuration: spans go to the collector, prompts to the registry of the stack. */
async function startFront(target: (path: string) => string) {
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const address = target((incoming.url ?? '').split('?')[0] ?? '') + incoming.url
    const outgoing = request(address, { method: incoming.method ?? 'GET', headers: incoming.headers })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  }
  const server = createServer(forward)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function play(mode: DemoMode): Promise<{ id: string; end: string }> {
  const { route, request: q, sample, iac_path } = findExample(mode)
  const repo_uri = stack.git_host?.repositories.find((address) => address.endsWith(`/${sample}.git`))
  const id = await api.schedule(route, { q, repo_uri, iac_path, ...SCOPE })
  let end = ''
  for await (const status of api.events(id)) end = status
  return { id, end }
}
const spansOf = (id: string) => receiver.spans.filter(({ attributes }) => attributes['session.id'] === id)
const warnings = () => logs.filter(({ message }) => /span|collector/.test(String(message)))

describe(
  'spans in the OpenTelemetry Collector',
  () => {
    it('of a round arrive whole, as trees, without a warning on either side', async () => {
      const { id, end } = await play('generate')
      expect(end).toBe('COMPLETED')
      await eventually(() => expect(spansOf(id).some(({ name }) => name.startsWith('Engine plan'))).toBe(true))
      const found = spansOf(id)
      const ids = new Set(found.map(({ spanId }) => spanId))
      expect(ids.size).toBe(found.length)
      for (const span of found) {
        expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
        expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
        expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
        expect(Math.abs(Number(BigInt(span.startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(LIMIT_MS)
        expect(span.droppedAttributesCount).toBe(0)
        expect(span.resource).toEqual({
          'openinference.project.name': expect.stringMatching(/^(dev|pre|pro)-engine-day2$/),
        })
        const parent = found.find(({ spanId }) => spanId === span.parentSpanId)
        if (span.parentSpanId === '') expect(span.name).toMatch(/^(Chain - |Engine )/)
        else expect([parent?.traceId, parent?.name]).toEqual([span.traceId, expect.stringMatching(/^Chain - /)])
      }
      const kinds = new Set(found.map(({ attributes }) => attributes['openinference.span.kind']))
      expect([...kinds].sort()).toEqual(['AGENT', 'EVALUATOR', 'LLM', 'TOOL'])
      const calls = found.filter(({ attributes }) => attributes['openinference.span.kind'] === 'LLM')
      for (const { attributes } of calls) expect(Number(attributes['llm.token_count.total'])).toBeGreaterThan(0)
      expect(warnings()).toEqual([])
      expect(receiver.service.output()).not.toMatch(/"level":"(warn|error)"/)
    })

    it('that stands still holds up no round, and what is lost is told once', async () => {
      receiver.service.process.kill('SIGSTOP')
      try {
        const { end } = await play('declined')
        expect(end).toBe('UNCOMPLETED')
      } finally {
        receiver.service.process.kill('SIGCONT')
      }
      const { id } = await play('declined')
      await eventually(() => expect(spansOf(id).length).toBeGreaterThan(0))
      expect(warnings().length).toBeLessThanOrEqual(1)
    })
  },
  LIMIT_MS,
)
