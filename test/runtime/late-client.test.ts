import { expect, it } from 'vitest'
import type { Inference, LlmClient } from '../../src/llm/inference.ts'
import { createLazyLlmClient } from '../../src/runtime/build-context.ts'

const answer: Inference = {
  model: 'openai/x',
  text: 'hello',
  tool_calls: [],
  finish: 'end_turn',
  finish_raw: 'stop',
  usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 1 },
}

it('makes the client with its first call, once, and passes calls and errors through', async () => {
  let made = 0
  const client: LlmClient = {
    complete: async ({ messages }) => {
      if (messages.length === 0) throw new Error('nothing to say')
      return answer
    },
    search: async (query) => `found ${query}`,
  }
  const late = createLazyLlmClient(async () => {
    made++
    return client
  })
  expect(made).toBe(0)
  const ask = () => late.complete({ role: 'small', messages: [{ role: 'user', content: 'hi' }] })
  expect(await Promise.all([ask(), ask(), late.search('tides')])).toEqual([answer, answer, 'found tides'])
  await expect(late.complete({ role: 'small', messages: [] })).rejects.toThrow('nothing to say')
  expect(made).toBe(1)
})
