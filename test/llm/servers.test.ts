import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'
import { SERVER_ANSWERS, SERVER_FAILURES } from './server-answers.ts'

/** Answers of servers that people put before a model, written after their published source. */
const outside = interceptRequests()
const BASE = 'http://models.test/v1'

const tool = (name: string, properties: object = {}) => ({
  name,
  description: 'A tool.',
  parameters: { type: 'object', properties },
})
const TOOLS = [
  tool('read_file', { target_file: { type: 'string' }, lines: { type: 'integer' } }),
  tool('list_dir'),
  tool('report', { done: { type: 'boolean' } }),
]
const REQUEST: InferenceRequest = { role: 'main', messages: [{ role: 'user', content: 'Look.' }], tools: TOOLS }

function ask(answer: string | object) {
  let calls = 0
  outside.use(
    http.post(`${BASE}/chat/completions`, () => {
      calls++
      return typeof answer === 'string'
        ? new HttpResponse(answer, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
        : HttpResponse.json(answer)
    }),
  )
  const model = 'custom_openai/m'
  const llm = interceptedLlm({ model, small_model: model, credentials: { CUSTOM_OPENAI_API_BASE: BASE } })
  return { reply: llm.complete(REQUEST), calls: () => calls }
}

describe('what a server holds is read', () => {
  it.each(SERVER_ANSWERS)('$server: $holds ($source)', async ({ answer, expected }) => {
    const { text, tool_calls, finish, usage } = await ask(answer).reply
    const { calls = [], ...rest } = expected
    expect({ text, finish, calls: tool_calls.map(({ name, arguments: args }) => [name, args]) }).toEqual({
      text: '',
      finish: calls.length > 0 ? 'tool_use' : 'end_turn',
      ...rest,
      calls,
    })
    const ids = tool_calls.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).not.toContain('')
    expect(usage.input_tokens).toBeGreaterThanOrEqual(0)
  })
})

describe('what a server does not hold is asked for again', () => {
  it.each(SERVER_FAILURES)('$server: $holds ($source)', async ({ answer, expected: { reason, attempts } }) => {
    const { reply, calls } = ask(answer)
    await expect(reply).rejects.toThrow(reason)
    expect(calls()).toBe(attempts)
  })
})

describe('tokens of an answer that could not be used', () => {
  it('are counted with those of the next one', async () => {
    const answers = ['error', 'stop'].map((finish_reason) => ({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Half' }, finish_reason }],
      usage: { prompt_tokens: 10, completion_tokens: 2 },
    }))
    outside.use(http.post(`${BASE}/chat/completions`, () => HttpResponse.json(answers.shift())))
    const model = 'custom_openai/m'
    const llm = interceptedLlm({ model, small_model: model, credentials: { CUSTOM_OPENAI_API_BASE: BASE } })
    expect((await llm.complete(REQUEST)).usage).toMatchObject({ input_tokens: 20, output_tokens: 4 })
  })
})

describe('a vendor that reads the calls of its own models', () => {
  it('is believed that a text is a text', async () => {
    const content = '<tool_call>{"name": "list_dir", "arguments": {}}</tool_call>'
    outside.use(
      http.post('https://api.openai.com/v1/chat/completions', () =>
        HttpResponse.json({ choices: [{ message: { content }, finish_reason: 'stop' }] }),
      ),
    )
    const model = 'openai/gpt-4o'
    const llm = interceptedLlm({ model, small_model: model, credentials: { OPENAI_API_KEY: 'key-of-mine' } })
    expect(await llm.complete(REQUEST)).toMatchObject({ text: content, tool_calls: [] })
  })
})
