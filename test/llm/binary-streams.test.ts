import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'
import { frame, streamed } from './stream-forms.ts'

describe('the binary stream of Bedrock', () => {
  const outside = interceptRequests()
  const credentials = { AWS_BEARER_TOKEN_BEDROCK: 'key-of-mine' }
  const bedrock = 'https://bedrock-runtime.us-west-2.amazonaws.com/model/m'
  const type = 'application/vnd.amazon.eventstream'
  const message = { ':message-type': 'event', ':event-type': 'messageStart' }
  const started = frame(message, { role: 'assistant' })
  const ask = () =>
    interceptedLlm({ model: 'bedrock/m', credentials }).complete({
      role: 'main',
      messages: [{ role: 'user', content: 'hi' }],
    })

  it.each([
    ['throttlingException', 429, 4],
    ['modelStreamErrorException', 502, 4],
    ['validationException', 400, 1],
  ])('may hold the exception %s', async (name, status, attempts) => {
    let count = 0
    const exception = frame({ ':message-type': 'exception', ':exception-type': name }, { message: 'Too bad.' })
    const reply = () => {
      count++
      return streamed(Buffer.concat([started, exception]), type)
    }
    outside.use(http.post(`${bedrock}/converse-stream`, reply), http.post(`${bedrock}/converse`, reply))
    await expect(ask()).rejects.toMatchObject({ status, message: expect.stringContaining('Too bad.') })
    expect(count).toBe(attempts)
  })

  it('is asked for again as a whole when a frame is damaged', async () => {
    const damaged = Buffer.from(frame(message, { role: 'assistant' }))
    damaged[damaged.length - 10] = 0x58
    const ok = { output: { message: { content: [{ text: 'whole' }] } }, stopReason: 'end_turn' }
    outside.use(
      http.post(`${bedrock}/converse-stream`, () => streamed(damaged, type)),
      http.post(`${bedrock}/converse`, () => HttpResponse.json(ok)),
    )
    expect((await ask()).text).toBe('whole')
  })

  it('is left out when the permission for it is missing, and remembered', async () => {
    const asked: string[] = []
    outside.use(
      http.post(`${bedrock}/:way`, ({ params: { way } }) => {
        asked.push(String(way))
        return way === 'converse'
          ? HttpResponse.json({ output: { message: { content: [{ text: 'whole' }] } }, stopReason: 'end_turn' })
          : HttpResponse.json({ message: 'not authorized to perform this action' }, { status: 403 })
      }),
    )
    const llm = interceptedLlm({ model: 'bedrock/m', credentials })
    const request: InferenceRequest = { role: 'main', messages: [{ role: 'user', content: 'hi' }] }
    expect([(await llm.complete(request)).text, (await llm.complete(request)).text]).toEqual(['whole', 'whole'])
    expect(asked).toEqual(['converse-stream', 'converse', 'converse'])
  })

  it('brings calls and thoughts, which go back with the conversation', async () => {
    const of = (name: string, value: object) => frame({ ':message-type': 'event', ':event-type': name }, value)
    const delta = (contentBlockIndex: number, value: object) =>
      of('contentBlockDelta', { contentBlockIndex, delta: value })
    const bytes = Buffer.concat([
      started,
      delta(0, { reasoningContent: { text: 'Let me ' } }),
      delta(0, { reasoningContent: { text: 'look.' } }),
      delta(0, { reasoningContent: { signature: 'signed' } }),
      of('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name: 'list_dir' } } }),
      of('contentBlockStop', { contentBlockIndex: 1 }),
      of('messageStop', { stopReason: 'tool_use' }),
      of('metadata', { usage: { inputTokens: 5, outputTokens: 6 } }),
    ])
    outside.use(http.post(`${bedrock}/converse-stream`, () => streamed(bytes, type)))
    const answer = await ask()
    expect(answer).toMatchObject({
      tool_calls: [{ id: 't1', name: 'list_dir', arguments: '{}' }],
      finish: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 6 },
      carry: { data: [{ thought: { reasoningText: { text: 'Let me look.', signature: 'signed' } } }, 'call'] },
    })
  })
})
