import { describe, expect, it } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { createLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import {
  type ModelHandler,
  type ModelReply,
  modelConfig,
  provideModelServers,
  script,
  text,
} from '../helpers/model-server.ts'

const serveModel = provideModelServers()

async function setup(handler: ModelHandler, overrides: Partial<LlmConfig> = {}, backoffMs = 1) {
  const server = await serveModel(handler)
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  return { server, lines, llm: createLlmClient(modelConfig(server.url, overrides), { fetch, log, backoffMs }) }
}

const request: InferenceRequest = { role: 'main', messages: [{ role: 'user', content: 'hello' }] }
const failing = (status: number, message = 'no', headers = {}): ModelReply => ({
  status,
  body: { error: { message } },
  headers,
})

describe('retries of model calls', () => {
  it.each([408, 409, 429, 500, 502, 503, 504, 529])('repeats a call that was answered with %i', async (status) => {
    const { server, llm } = await setup(script(failing(status), text('ok')))
    expect((await llm.complete(request)).text).toBe('ok')
    expect(server.requests).toHaveLength(2)
  })

  it.each([400, 401, 403, 404, 413, 422])('does not repeat a call that was answered with %i', async (status) => {
    const { server, llm } = await setup(script(failing(status, 'the reason')))
    await expect(llm.complete(request)).rejects.toMatchObject({
      code: 'InferenceCallAPIError',
      status,
      message: 'Inference call to openai/main-model failed: the reason',
    })
    expect(server.requests).toHaveLength(1)
  })

  it('gives up after three retries with the status of the provider', async () => {
    const { server, llm, lines } = await setup(script(failing(429, 'slow down')))
    await expect(llm.complete(request)).rejects.toMatchObject({
      status: 429,
      message: 'Inference call to openai/main-model failed: slow down',
    })
    expect(server.requests).toHaveLength(4)
    expect(lines.map((line) => JSON.parse(line).wait_ms)).toEqual([1, 2, 4])
  })

  it.each([
    ['as long as Retry-After asks', { 'retry-after': '0.01' }, 10],
    ['as retry-after-ms asks, which is finer than Retry-After', { 'retry-after': '2', 'retry-after-ms': '15' }, 15],
  ])('waits %s', async (_, headers, wait_ms) => {
    const { llm, lines } = await setup(script(failing(429, 'slow down', headers), text('ok')), {}, 60_000)
    expect((await llm.complete(request)).text).toBe('ok')
    expect(lines.map((line) => JSON.parse(line).wait_ms)).toEqual([wait_ms])
  })

  it('does not repeat a call when the provider says that it does not help', async () => {
    const { server, llm } = await setup(
      script(failing(429, 'You exceeded your current quota', { 'x-should-retry': 'false' })),
    )
    await expect(llm.complete(request)).rejects.toMatchObject({
      status: 429,
      message: 'Inference call to openai/main-model failed: You exceeded your current quota',
    })
    expect(server.requests).toHaveLength(1)
  })

  it('asks another entry of the name whose budget is not exhausted', async () => {
    const { server: second } = await setup(script(text('from the second')))
    const first = await serveModel(script(failing(429, 'quota', { 'x-should-retry': 'false' })))
    const entry = (url: string) => ({
      model_name: 'pair',
      litellm_params: { model: 'openai/main-model', api_base: url, api_key: 'k' },
    })
    const { llm } = await setup(script(text('unused')), {
      model: 'pair',
      model_list: [entry(first.url), entry(second.url)],
    })
    for (let call = 0; call < 4; call++) expect((await llm.complete(request)).text).toBe('from the second')
    expect(first.requests.length).toBeGreaterThan(0)
  })

  it('repeats a call when the provider says that it helps', async () => {
    const { llm } = await setup(script(failing(400, 'try again', { 'x-should-retry': 'true' }), text('ok')))
    expect((await llm.complete(request)).text).toBe('ok')
  })

  it('waits as long as Google asks in the body of the error', async () => {
    const limited = (retryDelay: string): ModelReply => ({
      status: 429,
      body: [
        {
          error: {
            code: 429,
            message: 'You exceeded your current quota.',
            status: 'RESOURCE_EXHAUSTED',
            details: [
              { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
              { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
            ],
          },
        },
      ],
    })
    const minute = await setup(script(limited('0.025s'), text('ok')), {}, 60_000)
    expect((await minute.llm.complete(request)).text).toBe('ok')
    expect(minute.lines.map((line) => JSON.parse(line).wait_ms)).toEqual([25])
    const day = await setup(script(limited('35640.9s')))
    await expect(day.llm.complete(request)).rejects.toMatchObject({ status: 429 })
    expect(day.server.requests).toHaveLength(1)
  })

  it('gives each attempt a time budget of its own', async () => {
    const { server, llm } = await setup(script('hang'), { timeout: 0.05 })
    await expect(llm.complete(request)).rejects.toMatchObject({
      status: 502,
      message: 'Inference call to openai/main-model failed: no answer within 0.05 s',
    })
    expect(server.requests).toHaveLength(4)
  })

  it('repeats when nobody listens', async () => {
    const { server, llm } = await setup(script(text('ok')))
    await server.close()
    await expect(llm.complete(request)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('the connection failed'),
    })
  })
})

describe('cancelling', () => {
  it('stops a call that is under way and does not repeat it', async () => {
    const controller = new AbortController()
    const { server, llm } = await setup(() => {
      controller.abort()
      return 'hang'
    })
    await expect(llm.complete({ ...request, signal: controller.signal })).rejects.toMatchObject({
      name: 'OutboundError',
      kind: 'aborted',
    })
    expect(server.requests).toHaveLength(1)
  })

  it('stops waiting for the next attempt', async () => {
    const controller = new AbortController()
    const { server, llm, lines } = await setup(script(failing(500)), {}, 60_000)
    const pending = llm.complete({ ...request, signal: controller.signal })
    await expect.poll(() => lines.length).toBe(1)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ kind: 'aborted' })
    expect(server.requests).toHaveLength(1)
  })
})

describe('key material', () => {
  it.each([
    'Incorrect API key provided: test-key-material.',
    'Incorrect API key provided: sk-proj-abcd1234efgh5678. See the keys page.',
    'Incorrect API key provided: test-key****************rial.',
    'header was Authorization: Bearer abc.def-ghi',
    'the token ya29.abcd1234-xyz and the keys AKIAABCD1234EFGH5678 and gsk_abcd1234efgh are no good',
  ])('does not show in the text or the log: %s', async (message) => {
    const { llm, lines } = await setup(script(failing(503, message), failing(401, message)))
    const error = await llm.complete(request).then(String, String)
    for (const seen of [error, ...lines])
      expect(seen).not.toMatch(/key-material|abcd1234|test-key\*|rial|abc\.def|ya29|AKIA|gsk_/)
    expect(error).toContain('***')
  })

  it('keeps the text on one line and short', async () => {
    const { llm } = await setup(script(failing(400, `a\n${'b'.repeat(5000)}`)))
    const error = await llm.complete(request).then(String, (reason: Error) => reason.message)
    expect(error).not.toContain('\n')
    expect(error.length).toBeLessThan(1100)
  })
})
