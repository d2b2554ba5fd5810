import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ReceivedSpan } from '../../../dev/collector/read-spans.ts'
import { type Collector, type CollectorOptions, createSpanStore, startCollector } from '../../../dev/collector/start.ts'
import { createLogger } from '../../../src/base/log.ts'
import { readFields } from '../../../src/base/protobuf.ts'
import { createTracing } from '../../../src/observe/tracing.ts'
import { configOf } from '../../helpers/core.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { PLAIN, SESSION } from '../../observe/support.ts'

const folder = temporaryFolder()
const start = async (options?: CollectorOptions) => {
  const collector = await startCollector(options)
  onTestFinished(() => collector.close())
  return collector
}

const version = (text: string, model_name = 'gpt-x') => ({
  model_name,
  model_provider: 'OPENAI',
  template: { type: 'chat', messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
  template_type: 'CHAT',
  template_format: 'NONE',
  invocation_parameters: { type: 'openai', openai: {} },
})
const ask = async ({ url }: Collector, method: string, path: string, json?: unknown) => {
  const response = await fetch(`${url}/v1/${path}`, {
    method,
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return { status: response.status, json: isJson ? JSON.parse(text) : null, text }
}
const create = (collector: Collector, name: string, text: string, model?: string) =>
  ask(collector, 'POST', 'prompts', { prompt: { name, description: '' }, version: version(text, model) })

describe('the registry', () => {
  it('keeps versions and moves tags', async () => {
    const collector = await start()
    expect((await ask(collector, 'GET', 'prompts/a-b/latest')).status).toBe(404)
    const first = (await create(collector, 'a-b', 'one')).json.data
    const second = (await create(collector, 'a-b', 'two')).json.data
    expect((await ask(collector, 'GET', 'prompts/a-b/latest')).json.data).toEqual({ ...version('two'), id: second.id })
    expect((await ask(collector, 'GET', 'prompts/a-b/tags/staging')).status).toBe(404)
    for (const { id } of [first, second]) {
      expect((await ask(collector, 'POST', `prompt_versions/${id}/tags`, { name: 'staging' })).status).toBe(204)
      expect((await ask(collector, 'GET', 'prompts/a-b/tags/staging')).json.data.id).toBe(id)
    }
    expect((await ask(collector, 'DELETE', 'prompts/a-b')).status).toBe(204)
    expect((await ask(collector, 'GET', 'prompts/a-b/latest')).status).toBe(404)
  })

  it.each([
    [422, 'POST', 'prompts', { prompt: { name: 'A b' }, version: version('x') }],
    [422, 'POST', 'prompts', { prompt: { name: 'a' }, version: { ...version('x'), template_type: 'STR' } }],
    [422, 'POST', 'prompt_versions/x/tags', { name: 'no/tag' }],
    [404, 'POST', 'prompt_versions/x/tags', { name: 'tag' }],
    [404, 'GET', 'prompts/constructor/latest', undefined],
    [404, 'GET', 'elsewhere', undefined],
    [404, 'GET', 'prompts/a/b/c/d', undefined],
    [400, 'GET', 'prompts/%/latest', undefined],
  ])('answers %i to %s %s', async (status, method, path, json) => {
    expect((await ask(await start(), method, path, json)).status).toBe(status)
  })

  it.each([
    [404, 'prompts/constructor/latest', 'Not Found'],
    [404, 'prompts/a-b/tags/staging', 'Not Found'],
    [422, 'prompts/A%20b/latest', 'Invalid prompt name'],
    [422, 'prompts/A%20b/tags/staging', 'Invalid prompt name'],
    [422, 'prompts/a-b/tags/Staging', 'Invalid tag name'],
  ])('answers %i to %s in plain words, as Phoenix does', async (status, path, text) => {
    expect(await ask(await start(), 'GET', path)).toEqual({ status, json: null, text })
  })

  it('outlives a restart; what nobody edited follows the shipped texts', async () => {
    const data_dir = join(folder, 'kept')
    const before = await start({ data_dir })
    await create(before, 'seed-old', 'old text', 'platform-seed')
    await create(before, 'seed-same', 'same "text"', 'platform-seed')
    await create(before, 'seed-gone', 'x', 'platform-seed')
    await create(before, 'edited', 'old text', 'platform-seed')
    await create(before, 'edited', 'my text')
    await before.close()
    const shipped = new Map([
      ['seed-old', { body: 'new text', description: '' }],
      ['seed-same', { body: 'same "text"', description: '' }],
      ['edited', { body: 'new text', description: '' }],
    ])
    const after = await start({ data_dir, shipped })
    expect(after.prompts.names().sort()).toEqual(['edited', 'seed-same'])
    expect((await ask(after, 'GET', 'prompts/edited/latest')).json.data).toMatchObject(version('my text'))
  })
})

describe('the collector', () => {
  it('answers the spans of a session in the order of their starts', async () => {
    const collector = await start()
    const config = await configOf(`telemetry: {collector_url: "${collector.collector_url}"}`)
    const tracing = createTracing(config, { fetch, log: createLogger({ write: () => {} }), write: () => {} })
    const first = (await tracing?.session(SESSION))?.masked(PLAIN).chain('REPORT_GENERATOR', 'naïve €')
    ;(await tracing?.session({ ...SESSION, uuid: 'other' }))?.masked(PLAIN).engine('plan', '').end(true, 'x')
    first?.tool({ id: 'call-1', name: 'web_search', arguments: '{}' }).end({ success: true, content: 'found' })
    first?.end({ summary: 'done' })
    await tracing?.close(10_000)
    const { data } = (await ask(collector, 'GET', `sessions/${SESSION.uuid}/spans`)).json
    expect(data.map(({ name }: ReceivedSpan) => name)).toEqual(['Chain - REPORT_GENERATOR', 'Tool call - web_search'])
    expect(data[0].attributes).toMatchObject({ 'input.value': 'naïve €', 'output.value': 'done' })
  })

  it.each([
    [415, 'application/json', '{}'],
    [400, 'application/x-protobuf', new Uint8Array([0x0a, 0xff])],
    [400, 'application/x-protobuf', new Uint8Array([0x0f])],
    [200, 'application/x-protobuf', new Uint8Array()],
  ])('answers %i to %s', async (status, type, body) => {
    const { url } = await start()
    const response = await fetch(`${url}/v1/traces`, { method: 'POST', body, headers: { 'content-type': type } })
    expect(response.status).toBe(status)
  })

  it('forgets the oldest spans when there are too many', () => {
    const store = createSpanStore(900)
    const span = (start_ms: number): ReceivedSpan => ({
      ...{ project: 'p', resource: {}, name: 'n', trace_id: 't', span_id: 's', parent_id: null },
      ...{ start_ms, end_ms: start_ms, status: 'ok', status_message: '', droppedAttributes: 0 },
      attributes: { 'session.id': 's', text: 'x'.repeat(300) },
    })
    store.add([span(1), span(2)])
    store.add([span(4), span(3)])
    expect(store.ofSession('s').map(({ start_ms }) => start_ms)).toEqual([3, 4])
  })
})

describe('the protobuf reader', () => {
  it('reads numbers up to 64 bits', () => {
    expect([...readFields(new Uint8Array([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]))]).toEqual(
      [{ number: 1, value: 2n ** 64n - 1n }],
    )
  })

  it.each([
    [[0x08]],
    [[0x08, 0x80]],
    [[0x12, 0x05, 0x01]],
    [[0x09, 0x01]],
    [[0x08, ...Array(11).fill(0x80)]],
  ])('refuses %j', (bytes) => {
    expect(() => [...readFields(new Uint8Array(bytes))]).toThrow(RangeError)
  })
})
