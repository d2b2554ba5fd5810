import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askText } from '../../../../src/agent/run-agent.ts'
import type { Message } from '../../../../src/llm/inference.ts'
import { ANSWER, CALLS, clientOf, type ModelServer, QUESTION, startLlama } from './servers.ts'

describe.each(['parsed', 'raw'] as const)('llama.cpp, calls %s', (form) => {
  let server: ModelServer
  beforeAll(async () => {
    server = await startLlama(form, 16_384)
  })
  afterAll(() => server.stop())

  describe.each([
    ['a whole answer', false],
    ['a stream', true],
  ])('%s', (_name, streamed) => {
    it('has both calls, with ids of their own and the tokens', async () => {
      const reply = await clientOf(server.url, 'tiny', streamed).complete(QUESTION)
      expect(reply.tool_calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) }))).toEqual(CALLS)
      expect(new Set(reply.tool_calls.map(({ id }) => id)).size).toBe(2)
      expect(reply).toMatchObject({ finish: 'tool_use', text: '' })
      expect(reply.usage.input_tokens).toBeGreaterThan(100)
    })

    it('has the text without the thoughts, after the answers of the calls', async () => {
      const llm = clientOf(server.url, 'tiny', streamed)
      const { tool_calls } = await llm.complete(QUESTION)
      const answers = tool_calls.map(
        ({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'acl = "private"' }),
      )
      const messages = [...QUESTION.messages, { role: 'assistant', content: null, tool_calls } as const, ...answers]
      expect(await llm.complete({ ...QUESTION, messages })).toMatchObject({ text: ANSWER, finish: 'end_turn' })
    })
  })

  it('goes on after a call whose arguments were no JSON', async () => {
    const broken = { id: 'a', name: 'read_file', arguments: '{"target_file": "ma' }
    const messages: Message[] = [
      ...QUESTION.messages,
      { role: 'assistant', content: null, tool_calls: [broken] },
      { role: 'tool', tool_call_id: 'a', content: 'The arguments are not a JSON object.' },
    ]
    expect((await clientOf(server.url, 'tiny').complete({ ...QUESTION, messages })).text).toBe(ANSWER)
  })
})

describe('llama.cpp with a small context', () => {
  let server: ModelServer
  beforeAll(async () => {
    server = await startLlama('parsed', 2_048)
  })
  afterAll(() => server.stop())

  it('is asked again with less than it refused', async () => {
    const query = `Is the bucket private?\n${'resource "aws_s3_bucket" "b" {}\n'.repeat(1_000)}`
    const budget = { tokens: 100_000, estimate: (text: string) => Math.ceil(text.length / 3) }
    const signal = AbortSignal.timeout(120_000)
    const request = { llm: clientOf(server.url, 'tiny'), chain: 'c', role: 'main', query, budget, signal } as const
    expect(await askText(request)).toBe(ANSWER)
  })

  it('says what its template refuses', async () => {
    const messages: Message[] = [QUESTION.messages, QUESTION.messages].flat()
    await expect(clientOf(server.url, 'tiny').complete({ role: 'main', messages })).rejects.toThrow(
      'System message must be at the beginning',
    )
  })
})
