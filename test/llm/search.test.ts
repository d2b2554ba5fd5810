import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { SearchOptions } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'

const outside = interceptRequests()

const chat = {
  choices: [{ finish_reason: 'stop', message: { content: 'high at noon' } }],
  usage: { prompt_tokens: 9, completion_tokens: 3 },
}
const responses = {
  output: [{ type: 'web_search_call' }, { type: 'message', content: [{ type: 'output_text', text: 'high at noon' }] }],
  usage: { input_tokens: 9, output_tokens: 3 },
}
const native = [
  { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'tides' } },
  { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  { type: 'text', text: 'high ' },
  { type: 'text', text: 'at noon', citations: [] },
]
const messages = {
  type: 'message',
  content: native,
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 3 },
}
const WEB = { web_search_options: { search_context_size: 'medium' } }
const VERTEX = { VERTEXAI_PROJECT: 'p', VERTEXAI_LOCATION: 'us-east5', GOOGLE_OAUTH_ACCESS_TOKEN: 't' }

/** @returns the posted body, and the finding */
async function search(
  model: string,
  credentials: Record<string, string>,
  url: string,
  answers: object[],
  options: SearchOptions = {},
) {
  const bodies: unknown[] = []
  outside.use(
    http.post(url, async ({ request }) => {
      bodies.push(await request.json())
      return HttpResponse.json(answers[Math.min(bodies.length, answers.length) - 1])
    }),
  )
  const llm = interceptedLlm({ web_search_model: model, credentials })
  return { text: await llm.search('tides', options), bodies }
}

describe('a web search', () => {
  const CLAUDE = { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] }
  const VERTEX_PLACE = 'us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5'
  it.each<[model: string, credentials: string | Record<string, string>, url: string, answer: object, expected: object]>(
    [
      ['anthropic/claude-sonnet-5', 'ANTHROPIC_API_KEY', 'api.anthropic.com/v1/messages', messages, CLAUDE],
      ['vertex_ai/claude-sonnet-5-5', VERTEX, `${VERTEX_PLACE}/publishers/anthropic/models/*`, messages, CLAUDE],
      [
        'vertex_ai/gemini-3.8-flash',
        VERTEX,
        `${VERTEX_PLACE}/endpoints/openapi/chat/completions`,
        chat,
        { web_search_options: {} },
      ],
      [
        'gemini/gemini-3.8-flash',
        'GEMINI_API_KEY',
        'generativelanguage.googleapis.com/v1beta/models/*',
        {
          candidates: [{ content: { parts: [{ text: 'high at noon' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 4, toolUsePromptTokenCount: 5, candidatesTokenCount: 3 },
        },
        { tools: [{ google_search: {} }] },
      ],
      [
        'xai/grok-4.6',
        'XAI_API_KEY',
        'api.x.ai/v1/responses',
        responses,
        { tools: [{ type: 'web_search' }], input: 'tides' },
      ],
      [
        'azure/d',
        { AZURE_API_BASE: 'https://a.openai.azure.com', AZURE_API_VERSION: 'v1', AZURE_API_KEY: 'k' },
        'a.openai.azure.com/openai/v1/responses',
        responses,
        { model: 'd', tools: [{ type: 'web_search', search_context_size: 'medium' }] },
      ],
      [
        'openai/gpt-5-search-api',
        'OPENAI_API_KEY',
        'api.openai.com/v1/chat/completions',
        chat,
        { ...WEB, max_tokens: 32_000 },
      ],
      [
        'openai/gpt-4.1-mini',
        'OPENAI_API_KEY',
        'api.openai.com/v1/responses',
        responses,
        {
          input: 'tides',
          tools: [{ type: 'web_search', search_context_size: 'medium' }],
          max_output_tokens: 32_000,
          temperature: 0.5,
        },
      ],
      ['perplexity/sonar', 'PERPLEXITYAI_API_KEY', 'api.perplexity.ai/chat/completions', chat, WEB],
      [
        'openrouter/openai/gpt-4o',
        'OPENROUTER_API_KEY',
        'openrouter.ai/api/v1/chat/completions',
        chat,
        { tools: [{ type: 'openrouter:web_search' }] },
      ],
      [
        'groq/openai/gpt-oss-120b',
        'GROQ_API_KEY',
        'api.groq.com/openai/v1/chat/completions',
        chat,
        { tools: [{ type: 'browser_search' }], tool_choice: 'required' },
      ],
      [
        'groq/groq/compound',
        'GROQ_API_KEY',
        'api.groq.com/openai/v1/chat/completions',
        chat,
        { model: 'groq/compound' },
      ],
      [
        'mistral/mistral-medium-latest',
        'MISTRAL_API_KEY',
        'api.mistral.ai/v1/conversations',
        {
          outputs: [
            { type: 'tool.execution', name: 'web_search' },
            {
              type: 'message.output',
              content: [
                { type: 'text', text: 'high at noon' },
                { type: 'tool_reference', url: 'https://x' },
              ],
            },
          ],
          usage: { prompt_tokens: 9, completion_tokens: 3 },
        },
        { inputs: 'tides', tools: [{ type: 'web_search' }], store: false },
      ],
    ],
  )('by %s', async (model, credentials, url, answer, expected) => {
    const used: unknown[] = []
    const keys = typeof credentials === 'string' ? { [credentials]: 'k' } : credentials
    const observe: SearchOptions['observe'] = (each) => used.push(each)
    const { text, bodies } = await search(model, keys, `https://${url}`, [answer], { observe })
    expect(text).toBe('high at noon')
    expect(bodies).toMatchObject([expected])
    expect(used).toEqual([{ model, usage: { input_tokens: 9, cached_tokens: 0, output_tokens: 3 } }])
  })

  it('that the provider pauses is taken up again with what it had found', async () => {
    const paused = { type: 'message', content: native.slice(0, 2), stop_reason: 'pause_turn' }
    const { text, bodies } = await search(
      'anthropic/claude-sonnet-5',
      { ANTHROPIC_API_KEY: 'k' },
      'https://api.anthropic.com/v1/messages',
      [paused, messages],
    )
    expect(text).toBe('high at noon')
    expect(bodies[1]).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant', content: native.slice(0, 2) }],
    })
  })

  it.each<[string, Record<string, string>]>([
    ['deepseek/deepseek-chat', { DEEPSEEK_API_KEY: 'k' }],
    ['bedrock/m', { AWS_BEARER_TOKEN_BEDROCK: 'k' }],
    ['together_ai/m', { TOGETHERAI_API_KEY: 'k' }],
    ['openai/gpt-3.5-turbo', { OPENAI_API_KEY: 'k' }],
    ['anthropic/claude-sonnet-5', { ANTHROPIC_BASE_URL: 'https://gateway.example.com' }],
    ['azure/d', { AZURE_API_BASE: 'https://a.openai.azure.com', AZURE_API_VERSION: '2024-10-21', AZURE_API_KEY: 'k' }],
  ])('is not made by %s', async (model, credentials) => {
    expect(await search(model, credentials, 'https://nowhere.example.com', [])).toEqual({ text: null, bodies: [] })
  })

  it('takes the model of the role when no search model is configured', async () => {
    outside.use(http.post('https://api.openai.com/v1/chat/completions', () => HttpResponse.json(chat)))
    const llm = interceptedLlm({
      model: 'openai/gpt-4o-search-preview',
      small_model: 'together_ai/some-model',
      credentials: { OPENAI_API_KEY: 'k', TOGETHERAI_API_KEY: 'k' },
    })
    expect(await llm.search('x', { role: 'main' })).toBe('high at noon')
    expect(await llm.search('x')).toBeNull()
  })

  it("is asked of a server of one's own once, and not again when it has no search", async () => {
    const bodies: unknown[] = []
    outside.use(
      http.post('http://models.example.org/v1/responses', async ({ request }) => {
        bodies.push(await request.json())
        return HttpResponse.json({ detail: 'Not Found' }, { status: 404 })
      }),
    )
    const llm = interceptedLlm({
      small_model: 'openai/gpt-4.1',
      credentials: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://models.example.org/v1' },
    })
    expect(await llm.search('tides')).toBeNull()
    expect(await llm.search('tides')).toBeNull()
    expect(bodies).toMatchObject([{ model: 'gpt-4.1', temperature: 0.5 }])
  })

  it('fails like any model call', async () => {
    let calls = 0
    outside.use(
      http.post('https://api.openai.com/v1/responses', () => {
        calls++
        return HttpResponse.json({ error: { message: 'overloaded' } }, { status: 500 })
      }),
    )
    const llm = interceptedLlm({ small_model: 'openai/gpt-5', credentials: { OPENAI_API_KEY: 'k' } })
    await expect(llm.search('x')).rejects.toMatchObject({
      code: 'InferenceCallAPIError',
      message: 'Inference call to openai/gpt-5 failed: overloaded',
    })
    expect(calls).toBe(4)
  })
})
