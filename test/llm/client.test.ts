import { describe, expect, it } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import type { InferenceRequest, LlmClient } from '../../src/llm/inference.ts'
import { type ModelHandler, modelConfig, provideModelServers, script, text, toolCall } from '../helpers/model-server.ts'

const serveModel = provideModelServers()

async function setup(handler: ModelHandler, overrides: (url: string) => Partial<LlmConfig> = () => ({})) {
  const server = await serveModel(handler)
  return { server, llm: clientOf(modelConfig(server.url, overrides(server.url))) }
}

const clientOf = (config: LlmConfig): LlmClient => createLlmClient(config, { fetch, log: silentLogger, backoffMs: 1 })
const ask = (more: Partial<InferenceRequest> = {}): InferenceRequest => ({
  role: 'main',
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})
const tool = { name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: {}, required: [] } }

describe('a model call', () => {
  it('sends cap, temperature and key on every call, and no tool fields without tools', async () => {
    const { server, llm } = await setup(script(text('hi')), () => ({ max_output_tokens: 123, temperature: 0.3 }))
    const answer = await llm.complete(ask())
    const request = server.requests[0]
    expect(request?.path).toBe('/v1/chat/completions')
    expect(request?.headers.authorization).toBe('Bearer test-key-material')
    expect(request?.body).toEqual({
      model: 'main-model',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 123,
      temperature: 0.3,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(answer).toEqual({
      model: 'openai/main-model',
      text: 'hi',
      tool_calls: [],
      finish: 'end_turn',
      finish_raw: 'stop',
      usage: { input_tokens: 100, cached_tokens: 40, output_tokens: 10 },
    })
  })

  it('takes the model of the role', async () => {
    const { server, llm } = await setup(script(text('hi')))
    await llm.complete(ask({ role: 'small' }))
    await llm.complete(ask({ role: 'main' }))
    expect(server.requests.map((request) => request.body.model)).toEqual(['small-model', 'main-model'])
  })

  it('offers tools with tool_choice auto and gives the argument text back verbatim', async () => {
    const { server, llm } = await setup(script(toolCall('read_file', '{"target_file": "main.tf"')))
    const answer = await llm.complete(ask({ tools: [tool] }))
    expect(server.requests[0]?.body).toMatchObject({
      tool_choice: 'auto',
      tools: [{ type: 'function', function: tool }],
    })
    expect(answer.finish).toBe('tool_use')
    expect(answer.tool_calls).toMatchObject([{ name: 'read_file', arguments: '{"target_file": "main.tf"' }])
  })

  it('forces temperature 1 and low effort for thinking, and refuses thinking with tools', async () => {
    const { server, llm } = await setup(script(text('ok')), (url) => ({
      model: 'anthropic/claude-sonnet-5',
      credentials: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url },
    }))
    await llm.complete(ask({ thinking: true }))
    expect(server.requests[0]?.body).toMatchObject({ temperature: 1, reasoning_effort: 'low' })
    await expect(llm.complete(ask({ thinking: true, tools: [tool] }))).rejects.toMatchObject({
      status: 400,
      code: 'InferenceCallAPIError',
    })
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    ['stop', 'end_turn'],
    ['tool_calls', 'tool_use'],
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['function_call', 'end_turn'],
    ['constructor', 'end_turn'],
    ['max_new_tokens', 'max_tokens'],
    ['sensitive', 'content_filter'],
  ])('maps the finish reason %s to %s', async (raw, finish) => {
    const { llm } = await setup(script(text('x', raw)))
    expect(await llm.complete(ask())).toMatchObject({ finish, finish_raw: raw })
  })

  it('reads text parts and counts nothing when the answer has no usage', async () => {
    const parts = {
      choices: [
        {
          finish_reason: 'stop',
          message: {
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        },
      ],
    }
    const { llm } = await setup(script({ status: 200, body: parts }))
    expect(await llm.complete(ask())).toMatchObject({
      text: 'ab',
      usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0 },
    })
  })
})

describe('providers', () => {
  it('says the usual parameters to a server that is not the vendor’s, whatever the name of the model', async () => {
    const { server, llm } = await setup(script(text('ok')), () => ({ model: 'openai/gpt-5.2', max_output_tokens: 77 }))
    await llm.complete(ask())
    expect(server.requests[0]?.body).toEqual({
      model: 'gpt-5.2',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 77,
      temperature: 0.1,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('learns from a refusal which parameter a model does not take', async () => {
    const { server, llm } = await setup((body) => {
      if ('temperature' in body)
        return refused("Unsupported value: 'temperature' does not support 0.1 with this model.", 'temperature')
      if ('max_tokens' in body)
        return refused(
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        )
      return text('ok')
    })
    expect((await llm.complete(ask())).text).toBe('ok')
    await llm.complete(ask())
    expect(server.requests).toHaveLength(4)
    expect(server.requests[3]?.body).toMatchObject({ max_completion_tokens: 32_000 })
  })

  it('does not repeat a call that was refused for another reason', async () => {
    const { server, llm } = await setup(script(refused('max_tokens is too large: 32000', 'max_tokens')))
    await expect(llm.complete(ask())).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('too large'),
    })
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    [
      'foo/bar',
      "Inference call to foo/bar failed: the provider 'foo' is not supported (supported: openai, azure, " +
        'anthropic, gemini, vertex_ai, bedrock, mistral, groq, deepseek, xai, openrouter, together_ai, ' +
        'fireworks_ai, cohere, perplexity, ollama, hosted_vllm, custom_openai)',
    ],
    ['llama', 'Inference call to llama failed: the model has no provider prefix; write <provider>/<model-id>'],
  ])('fails on the first call to %s', async (model, message) => {
    const { llm } = await setup(script(text('ok')), () => ({ model }))
    await expect(llm.complete(ask())).rejects.toMatchObject({ code: 'InferenceCallAPIError', status: 502, message })
  })

  it('names the variable that is not set', async () => {
    const llm = clientOf(modelConfig('', { credentials: {} }))
    await expect(llm.complete(ask())).rejects.toThrow(
      'Inference call to openai/main-model failed: OPENAI_API_KEY is not set',
    )
  })
})

describe('model_list', () => {
  it('spreads calls over the entries of one name, each with its own address and key', async () => {
    const other = await serveModel(script(text('second')))
    const { server, llm } = await setup(script(text('first')), (url) => ({
      model: 'team',
      small_model: 'quick',
      model_list: [
        { model_name: 'team', litellm_params: { model: 'openai/a', api_base: url, api_key: 'os.environ/TEAM_KEY' } },
        { model_name: 'quick', litellm_params: { model: 'openai/q', api_base: url, api_key: 'literal-key' } },
        { model_name: 'team', litellm_params: { model: 'openai/b', api_base: other.url } },
      ],
      credentials: { OPENAI_API_KEY: 'default-key', TEAM_KEY: 'team-key' },
    }))
    const texts = []
    for (let i = 0; i < 4; i++) texts.push((await llm.complete(ask())).text)
    expect(texts).toEqual(['first', 'second', 'first', 'second'])
    expect(server.requests.map((request) => [request.body.model, request.headers.authorization])).toEqual([
      ['a', 'Bearer team-key'],
      ['a', 'Bearer team-key'],
    ])
    expect(other.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer default-key',
      'Bearer default-key',
    ])
    await llm.complete(ask({ role: 'small' }))
    expect(server.requests[2]).toMatchObject({ body: { model: 'q' }, headers: { authorization: 'Bearer literal-key' } })
  })

  it('fails on the first call when a referenced variable is not set', async () => {
    const { llm } = await setup(script(text('ok')), (url) => ({
      model: 'team',
      model_list: [
        { model_name: 'team', litellm_params: { model: 'openai/m', api_base: url, api_key: 'os.environ/NOT_THERE' } },
      ],
    }))
    await expect(llm.complete(ask())).rejects.toThrow('Inference call to openai/m failed: NOT_THERE is not set')
  })
})

const refused = (message: string, param: string | null = null) => ({
  status: 400,
  body: { error: { message, param, code: 'invalid' } },
})
