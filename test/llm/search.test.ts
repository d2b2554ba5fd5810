import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { modelConfig } from '../helpers/model-server.ts'

const outside = setupServer()
beforeAll(() => outside.listen({ onUnhandledFrame: 'error' }))
afterEach(() => outside.resetHandlers())
afterAll(() => outside.close())

const credentials = {
  OPENAI_API_KEY: 'openai-key',
  ANTHROPIC_API_KEY: 'anthropic-key',
  TOGETHERAI_API_KEY: 'together-key',
}
const clientOf = (overrides: Partial<LlmConfig>) =>
  createLlmClient(modelConfig('', { credentials: credentials, ...overrides }), {
    fetch: (...args) => fetch(...args),
    log: silentLogger,
    backoffMs: 1,
  })

const completion = (content: string) =>
  HttpResponse.json({ choices: [{ finish_reason: 'stop', message: { content } }] })

/** Records what is posted to an address and answers with `reply`. */
function record(url: string, reply: () => Response) {
  const bodies: unknown[] = []
  outside.use(
    http.post(url, async ({ request }) => {
      bodies.push(await request.json())
      return reply()
    }),
  )
  return bodies
}

describe('web search', () => {
  it.each([
    'together_ai/some-model',
    'openai/gpt-3.5-turbo',
  ])('answers null without a call for %s', async (small_model) => {
    expect(await clientOf({ small_model }).search('tide tables')).toBeNull()
  })

  it('uses the search of chat completions where the model has it', async () => {
    const bodies = record('https://api.openai.com/v1/chat/completions', () => completion('found'))
    const llm = clientOf({ web_search_model: 'openai/gpt-5-search-api' })
    expect(await llm.search('tide tables')).toBe('found')
    expect(bodies).toEqual([
      {
        model: 'gpt-5-search-api',
        messages: [{ role: 'user', content: 'tide tables' }],
        max_tokens: 32_000,
        web_search_options: { search_context_size: 'medium' },
      },
    ])
  })

  it('uses the responses API for other models of that provider, at temperature 0.5', async () => {
    const bodies = record('https://api.openai.com/v1/responses', () =>
      HttpResponse.json({
        error: null,
        output: [
          { type: 'web_search_call', id: 'ws' },
          { type: 'message', content: [{ type: 'output_text', text: 'high at noon' }] },
        ],
      }),
    )
    expect(await clientOf({ small_model: 'openai/gpt-4.1-mini' }).search('tide tables')).toBe('high at noon')
    expect(bodies).toEqual([
      {
        model: 'gpt-4.1-mini',
        input: 'tide tables',
        tools: [{ type: 'web_search', search_context_size: 'medium' }],
        max_output_tokens: 32_000,
        temperature: 0.5,
      },
    ])
  })

  it('takes the model of the role when no search model is configured', async () => {
    record('https://api.openai.com/v1/chat/completions', () => completion('found'))
    const llm = clientOf({ model: 'openai/gpt-4o-search-preview', small_model: 'together_ai/some-model' })
    expect(await llm.search('x', { role: 'main' })).toBe('found')
    expect(await llm.search('x')).toBeNull()
  })

  it("asks a server of one's own once, and not again when it has no search", async () => {
    const bodies = record('http://models.example.org/v1/responses', () =>
      HttpResponse.json({ detail: 'Not Found' }, { status: 404 }),
    )
    const llm = clientOf({
      small_model: 'openai/gpt-4.1',
      credentials: { ...credentials, OPENAI_BASE_URL: 'http://models.example.org/v1' },
    })
    expect(await llm.search('tide tables')).toBeNull()
    expect(await llm.search('tide tables')).toBeNull()
    expect(bodies).toMatchObject([{ model: 'gpt-4.1', temperature: 0.5 }])
  })

  it('fails like any model call', async () => {
    const bodies = record('https://api.openai.com/v1/responses', () =>
      HttpResponse.json({ error: { message: 'overloaded' } }, { status: 500 }),
    )
    await expect(clientOf({ small_model: 'openai/gpt-5' }).search('x')).rejects.toMatchObject({
      code: 'InferenceCallAPIError',
      message: 'Inference call to openai/gpt-5 failed: overloaded',
    })
    expect(bodies).toHaveLength(4)
  })
})
