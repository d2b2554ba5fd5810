import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { http } from 'msw'
import { afterEach, describe, expect, it } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { listen } from '../../dev/server.ts'
import { createLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { type InferenceRequest, StoppedInference } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { type ChatBody, interceptedLlm, modelConfig } from '../helpers/model-server.ts'
import { streamed } from './stream-forms.ts'

/** Streams of real servers, whole and in every way broken. */

type Reply = (response: ServerResponse, body: ChatBody) => void | Promise<void>
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** Serves the replies in turn and repeats the last one. */
async function serve(replies: readonly Reply[], overrides: Partial<LlmConfig> = {}) {
  const bodies: ChatBody[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
    await replies[Math.min(bodies.length, replies.length) - 1]?.(response, bodies.at(-1) as ChatBody)
  })
  const { url, close } = await listen(server)
  closing.push(close)
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const llm = createLlmClient(modelConfig(`${url}/v1`, overrides), { fetch, log, backoffMs: 1 })
  const ask = (more: Partial<InferenceRequest> = {}) =>
    llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hello' }], ...more })
  return { ask, bodies, lines, streams: () => bodies.map(({ stream }) => stream === true) }
}

const event = (value: object | string) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason }] })
const calls = (...tool_calls: object[]) => chunk({ tool_calls })
const USAGE = event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })
const END = [chunk({}, 'stop'), USAGE, event('[DONE]')]

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const sends =
  (...events: string[]): Reply =>
  (response) => {
    begin(response).end(events.join(''))
  }
/** Sends the events and nothing more, so that the stream stays open. */
const stalls =
  (...events: string[]): Reply =>
  (response) => {
    begin(response).write(events.join(''))
  }
/** Sends the events and breaks the connection. */
const breaks =
  (...events: string[]): Reply =>
  (response) => {
    begin(response).write(events.join(''), () => response.destroy())
  }
const whole =
  (content = 'whole'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      }),
    )
  }
const refuses =
  (message: string, status = 400): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
  }

describe('a stream', () => {
  it('may be cut apart anywhere, also within a letter', async () => {
    const text = 'Größe: 5 € für 日本 🙂'
    const bytes = Buffer.from([chunk({ role: 'assistant', content: text }), ...END].join(''))
    const { ask } = await serve([
      async (response) => {
        begin(response)
        for (const byte of bytes) if (!response.write(Uint8Array.of(byte))) await once(response, 'drain')
        response.end()
      },
    ])
    expect(await ask()).toMatchObject({ text, finish: 'end_turn', usage: { input_tokens: 7, output_tokens: 3 } })
  })

  it.each([
    ['without an end mark', [chunk({ content: 'Done.' }), chunk({}, 'stop'), USAGE]],
    ['without a reason for its end', [chunk({ content: 'Done.' }), USAGE, event('[DONE]')]],
    [
      'with comments between the events',
      [': ping\n\n', chunk({ content: 'Do' }), ':\n\n', chunk({ content: 'ne.' }), ...END],
    ],
    ['with one line break between the events', [chunk({ content: 'Done.' }), ...END].map((one) => one.slice(0, -1))],
  ])('%s is an answer', async (_, events) => {
    const { ask, streams } = await serve([sends(...events)])
    expect(await ask()).toMatchObject({ text: 'Done.', finish: 'end_turn', usage: { input_tokens: 7 } })
    expect(streams()).toEqual([true])
  })

  it('that stays open after its end mark is an answer', async () => {
    const { ask } = await serve([stalls(chunk({ content: 'Done.' }), ...END)])
    expect(await ask()).toMatchObject({ text: 'Done.', usage: { output_tokens: 3 } })
  })

  it('without usage is estimated', async () => {
    const { ask } = await serve([sends(chunk({ content: 'x'.repeat(350) }), chunk({}, 'stop'))])
    const { usage } = await ask()
    expect(usage.output_tokens).toBe(100)
    expect(usage.input_tokens).toBeGreaterThan(10)
  })

  it('is not asked for when it is switched off', async () => {
    const { ask, bodies } = await serve([whole()], { stream: false })
    expect((await ask()).text).toBe('whole')
    expect(Object.keys(bodies[0] ?? {})).not.toContain('stream_options')
    expect(bodies[0]).not.toHaveProperty('stream')
  })
})

describe('a server that does not stream', () => {
  it('answers whole and is asked the same way again', async () => {
    const { ask, streams } = await serve([whole()])
    expect([(await ask()).text, (await ask()).text]).toEqual(['whole', 'whole'])
    expect(streams()).toEqual([true, true])
  })

  it.each([
    ['by a refusal at once', refuses('Streaming is not supported by this deployment.'), 1],
    ['by failures that may be temporary after three calls', refuses('not implemented', 501), 3],
  ])('is found out %s', async (_, refusal, asked) => {
    const reply: Reply = (response, body) => (body.stream ? refusal : whole())(response, body)
    const { ask, streams } = await serve([reply])
    for (let call = 0; call < 4; call++) expect((await ask()).text).toBe('whole')
    expect(streams().filter(Boolean)).toHaveLength(asked)
    expect(streams().slice(-1)).toEqual([false])
  })

  it('is asked without the option that it refuses', async () => {
    const reply: Reply = (response, body) =>
      ('stream_options' in body ? refuses('Unrecognized request argument supplied: stream_options') : whole())(
        response,
        body,
      )
    const { ask, bodies } = await serve([reply])
    await ask()
    await ask()
    expect(bodies.map((body) => [body.stream, 'stream_options' in body])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ])
  })
})

describe('a stream that goes wrong', () => {
  const half = chunk({ content: 'Half of the ' })

  it.each<[string, Reply, string]>([
    ['breaks', breaks(half), 'the answer broke off in the middle'],
    ['ends in the middle', sends(half), 'the answer broke off in the middle'],
    ['stalls', stalls(half), 'the answer stopped in the middle, nothing came for 0.05 s'],
  ])('that %s is asked for again as a whole, and its tokens count', async (_, reply, reason) => {
    const { ask, streams, lines } = await serve([reply, whole()], { stream_idle_timeout: 0.05 })
    const { text, usage } = await ask()
    expect(text).toBe('whole')
    expect(usage.input_tokens).toBeGreaterThan(7)
    expect(usage.output_tokens).toBe(3 + Math.ceil('Half of the '.length / 3.5))
    expect(streams()).toEqual([true, false])
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual([reason])
    expect(lines.join('')).not.toContain('Half of')
  })

  it('three times in a row is not asked for any more, and one that works begins the count again', async () => {
    const good = sends(chunk({ content: 'streamed' }), ...END)
    const bad = [breaks(half), whole()]
    const { ask, streams } = await serve([...bad, ...bad, good, ...bad, ...bad, ...bad, whole()])
    for (let call = 0; call < 8; call++) await ask()
    expect(streams().slice(-4)).toEqual([true, false, false, false])
    expect(streams().filter(Boolean)).toHaveLength(6)
  })

  it.each([
    ['a rate limit', { error: { message: 'slow down', type: 'rate_limit_exceeded' } }, 429, 4],
    ['an error without a status', { error: { message: 'it broke' } }, 502, 4],
    ['a refusal', { error: { message: 'not allowed here', code: 403 } }, 403, 1],
  ])('holds %s, with its status', async (_, error, status, attempts) => {
    const { ask, bodies } = await serve([sends(half, event(error))])
    await expect(ask()).rejects.toMatchObject({ status, message: expect.stringContaining(error.error.message) })
    expect(bodies).toHaveLength(attempts)
  })

  it('is given up when the whole call takes too long, with its tokens', async () => {
    const { ask } = await serve([stalls(half)], { timeout: 0.4 })
    await expect(ask()).rejects.toMatchObject({
      message: 'Inference call to openai/main-model failed: no answer within 0.4 s',
      used: { model: 'openai/main-model', usage: { output_tokens: 4 } },
    })
  })

  it('is rubbish: an error that can be repeated', async () => {
    const { ask, streams } = await serve([sends('\u0000\u0001data: {"choices": [\n\n', 'data: nothing\n\n'), whole()])
    expect((await ask()).text).toBe('whole')
    expect(streams()).toHaveLength(2)
  })
})

describe('a stream that its caller stops', () => {
  it('is closed at once, and the error holds the tokens until then', async () => {
    const controller = new AbortController()
    const closed = Promise.withResolvers<void>()
    const { ask, bodies } = await serve([
      (response) => {
        response.on('close', closed.resolve)
        begin(response).write(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'x', arguments: '{}' } }] }))
        response.write(calls({ index: 1, id: 'b', function: { name: 'y', arguments: '{"a":' } }))
      },
    ])
    const progress = { call: () => controller.abort(), restart: () => {} }
    const error = await ask({ signal: controller.signal, progress }).catch((caught: unknown) => caught)
    await closed.promise
    expect(error).toBeInstanceOf(StoppedInference)
    expect(error).toMatchObject({ kind: 'aborted', used: { usage: { output_tokens: 3 } } })
    expect(bodies).toHaveLength(1)
  })
})

describe('the calls of a stream', () => {
  it('are told one by one, as soon as the next begins, before the answer ends', async () => {
    const told: string[] = []
    const first = Promise.withResolvers<void>()
    const { ask } = await serve([
      async (response) => {
        begin(response).write(calls({ index: 0, id: 'a', function: { name: 'read', arguments: '{"file":' } }))
        response.write(calls({ index: 0, function: { arguments: '"a.tf"}' } }))
        response.write(calls({ index: 1, id: 'b', function: { name: 'read', arguments: '{"file":"b' } }))
        // The answer goes on only when the first call was told.
        await first.promise
        response.write(calls({ index: 1, function: { arguments: '.tf"}' } }))
        response.end([chunk({}, 'tool_calls'), event('[DONE]')].join(''))
      },
    ])
    const progress = {
      call: ({ name, arguments: args }: { name: string; arguments: string }) => {
        told.push(`${name} ${args}`)
        first.resolve()
      },
      restart: () => told.push('restart'),
    }
    expect((await ask({ progress })).tool_calls.map(({ arguments: args }) => args)).toEqual([
      '{"file":"a.tf"}',
      '{"file":"b.tf"}',
    ])
    expect(told).toEqual(['read {"file":"a.tf"}', 'read {"file":"b.tf"}'])
  })

  it('are void when the stream breaks', async () => {
    const told: string[] = []
    const one = { index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }
    const two = { index: 1, id: 'b', function: { name: 'write', arguments: '{"file' } }
    const { ask } = await serve([breaks(calls(one), calls(two)), whole()])
    const progress = { call: ({ name }: { name: string }) => told.push(name), restart: () => told.push('restart') }
    expect((await ask({ progress })).text).toBe('whole')
    expect(told).toEqual(['read', 'restart'])
  })
})

describe('an answer that goes wrong', () => {
  /** Writes the piece until the connection is closed. */
  const endless =
    (pieceOf: (index: number) => string): Reply =>
    async (response) => {
      begin(response)
      for (let index = 0; !response.destroyed && index < 200_000; index++) {
        response.write(chunk({ content: pieceOf(index) }))
        if (index % 50 === 0) await new Promise(setImmediate)
      }
    }

  it.each([
    ['a letter', () => '\n'],
    ['a sentence', () => 'I will now check the file again. '],
    ['a paragraph', () => 'x'.repeat(900)],
  ])('by repeating %s is cut', async (_, piece) => {
    const { ask, streams } = await serve([endless(piece)])
    const { finish, finish_raw, usage } = await ask()
    expect([finish, finish_raw]).toEqual(['repetition', 'repetition'])
    expect(usage.output_tokens).toBeGreaterThan(2000)
    expect(usage.output_tokens).toBeLessThan(20_000)
    expect(streams()).toHaveLength(1)
  })

  it('by writing beyond its limit is cut', async () => {
    const { ask } = await serve([endless((index) => `resource ${index} `)], { max_output_tokens: 500 })
    const { finish, finish_raw, text } = await ask()
    expect([finish, finish_raw]).toEqual(['max_tokens', 'length'])
    expect(text.length).toBeLessThan(20_000)
  })

  it('is not cut for blocks that differ in their names, or for fewer repetitions', async () => {
    const block = (index: number) => `resource "null_resource" "item_${index}" {\n  count = 1\n}\n`.repeat(2)
    const text = Array.from({ length: 400 }, (_, index) => block(index)).join('') + '-'.repeat(5000)
    const { ask } = await serve([
      sends(...(text.match(/.{1,100}/gsu) ?? []).map((content) => chunk({ content })), ...END),
    ])
    expect(await ask()).toMatchObject({ finish: 'end_turn', text })
  })
})

describe('the stream of OpenRouter', () => {
  const outside = interceptRequests()

  it('brings thoughts in pieces, which go back as one', async () => {
    const thought = (more: object) =>
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f', text: null, ...more }] })
    const sealed = { type: 'reasoning.encrypted', index: 1, data: 'abc' }
    const events = [
      thought({ text: 'Let me ' }),
      thought({ text: 'look.' }),
      thought({ signature: 'signed' }),
      chunk({ reasoning_details: [sealed] }),
      chunk({ content: 'Done.' }, 'stop'),
    ]
    const url = 'https://openrouter.ai/api/v1/chat/completions'
    outside.use(http.post(url, () => streamed(Buffer.from(events.join('')))))
    const llm = interceptedLlm({ model: 'openrouter/m', credentials: { OPENROUTER_API_KEY: 'key-of-mine' } })
    const { text, carry } = await llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hi' }] })
    expect(text).toBe('Done.')
    expect(carry?.data).toEqual({
      reasoning_details: [
        { type: 'reasoning.text', index: 0, format: 'f', text: 'Let me look.', signature: 'signed' },
        sealed,
      ],
    })
  })
})
