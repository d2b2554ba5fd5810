import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AnswerFault } from '../../../eval/hand/answer.ts'
import type { HandFolder } from '../../../eval/hand/folder.ts'
import { HAND_MODELS, type HandEndpoint, type HandOptions, startHandEndpoint } from '../../../eval/hand/server.ts'
import { summariseCalls } from '../../../eval/hand/statistics.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createLlmClient } from '../../../src/llm/client.ts'
import type { InferenceRequest, Message } from '../../../src/llm/inference.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { modelConfig } from '../../helpers/model-server.ts'

const parent = temporaryFolder()
const temporary = () => mkdtemp(join(parent, 'hand-'))
async function start(changes: Partial<HandOptions> = {}) {
  const endpoint = await startHandEndpoint({
    folder: changes.folder ?? (await temporary()),
    autoStatus: true,
    pollMs: 5,
    ...changes,
  })
  onTestFinished(() => endpoint.close())
  const names = { model: `openai/${HAND_MODELS.main}`, small_model: `openai/${HAND_MODELS.small}` }
  const client = createLlmClient(modelConfig(`${endpoint.url}/v1`, names), { fetch, log: silentLogger, backoffMs: 1 })
  return { endpoint, client }
}

const TOOLS = ['read_file', 'task_complete'].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: {} },
}))
const system: Message = { role: 'system', content: 'You write code. '.repeat(50) }
const request = (...more: Message[]): InferenceRequest => ({
  role: 'main',
  messages: [system, { role: 'user', content: 'Add a queue.' }, ...more],
  tools: TOOLS,
})
const READ = { tool_calls: [{ name: 'read_file', arguments: { target_file: 'main.tf' } }] }

/** Waits until `count` calls wait for an answer, and returns their numbers. */
const waiting = (folder: HandFolder, count = 1) =>
  vi.waitFor(
    async () => {
      const calls = await folder.waiting()
      expect(calls).toHaveLength(count)
      return calls
    },
    { timeout: 20_000, interval: 5 },
  )
const callFile = (folder: HandFolder, call: number, name: string) =>
  join(folder.path, 'calls', String(call).padStart(4, '0'), name)

async function answerNext({ folder }: HandEndpoint, answer: object): Promise<number> {
  const [call = 0] = await waiting(folder)
  await folder.answer(call, JSON.stringify(answer))
  return call
}

describe('the endpoint', () => {
  it('gives a client what was written into the file, and shows only what is new when a conversation goes on', async () => {
    const { endpoint, client } = await start()
    const asked = client.complete(request())
    const first = await answerNext(endpoint, { text: 'I look first.', ...READ })
    const reply = await asked
    expect(reply).toMatchObject({ text: 'I look first.', finish: 'tool_use', tool_calls: [{ name: 'read_file' }] })
    expect(await endpoint.folder.show(first, { whole: false })).toMatch(/You write code[\s\S]*Add a queue/)
    expect(await endpoint.folder.show(first, { whole: false })).toContain('- read_file: Does read_file.')

    const going: Message[] = [
      { role: 'assistant', content: reply.text, tool_calls: reply.tool_calls },
      { role: 'tool', tool_call_id: reply.tool_calls[0]?.id ?? '', content: 'nothing there' },
    ]
    const goesOn = client.complete(request(...going))
    const [second = 0] = await waiting(endpoint.folder)
    const shown = await endpoint.folder.show(second, { whole: false })
    expect(shown).toContain(`TOOLS as in call ${first}: read_file, task_complete`)
    expect(shown).toContain(`The first 2 messages are as in call ${first}`)
    expect(shown).toContain('nothing there')
    expect(shown).not.toContain('You write code')
    expect(await endpoint.folder.show(second, { whole: true })).toMatch(/Does task_complete[\s\S]*You write code/)
    await endpoint.folder.answer(second, '{"tool_calls": [{"name": "task_complete"}]}')
    expect(await goesOn).toMatchObject({ tool_calls: [{ name: 'task_complete', arguments: '{}' }] })
  })

  it('lists tools again when they change', async () => {
    const { endpoint, client } = await start()
    const asked = client.complete(request())
    await answerNext(endpoint, READ)
    await asked
    const again = client.complete({ ...request(), tools: TOOLS.slice(1) })
    const [call = 0] = await waiting(endpoint.folder)
    const shown = await endpoint.folder.show(call, { whole: false })
    expect(shown).toContain('TOOLS have changed since call 1: task_complete\nno longer there: read_file')
    await endpoint.folder.answer(call, '{"text": "ok"}')
    await again
  })

  it('answers status texts by itself, unless it is told not to', async () => {
    const status: InferenceRequest = { role: 'small', messages: [{ role: 'user', content: 'One sentence.' }] }
    const automatic = await start()
    expect((await automatic.client.complete(status)).text).not.toBe('')
    const asking = await start({ autoStatus: false })
    const asked = asking.client.complete(status)
    await answerNext(asking.endpoint, { text: 'By hand.' })
    expect((await asked).text).toBe('By hand.')
  })

  it('serves two calls at once, each with its own answer', async () => {
    const { endpoint, client } = await start()
    const all = ['one', 'two'].map((content) => client.complete(request({ role: 'user', content })))
    const calls = await waiting(endpoint.folder, 2)
    for (const call of calls.toReversed()) {
      const word = /(one|two)"?\n? ?\]?/.exec(
        await readFile(callFile(endpoint.folder, call, 'request.txt'), 'utf8'),
      )?.[1]
      await endpoint.folder.answer(call, JSON.stringify({ text: `Answer to ${word}.` }))
    }
    expect((await Promise.all(all)).map(({ text }) => text)).toEqual(['Answer to one.', 'Answer to two.'])
  })

  it('ends a call whose client went away', async () => {
    const { endpoint, client } = await start()
    const stop = new AbortController()
    const asked = client.complete({ ...request(), signal: stop.signal })
    const [call = 0] = await waiting(endpoint.folder)
    stop.abort()
    await expect(asked).rejects.toThrow(/cancelled/)
    await waiting(endpoint.folder, 0)
    await expect(endpoint.folder.answer(call, JSON.stringify(READ))).rejects.toThrow(`Call ${call} does not wait`)
    expect((await endpoint.folder.records()).map(({ end }) => end)).toEqual(['aborted'])
  })

  it('keeps an answer in form while signs of life precede it, also as a stream', async () => {
    const { endpoint } = await start({ aliveMs: 1 })
    const ask = async (stream: boolean) => {
      const response = await fetch(`${endpoint.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'hand', stream, messages: [{ role: 'user', content: 'Hi' }], tools: wireTools }),
      })
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let body = (await reader?.read())?.value ?? ''
      await answerNext(endpoint, READ)
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) body += part.value
      return body
    }
    const whole = await ask(false)
    expect(whole).toMatch(/^ /)
    expect(JSON.parse(whole)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
    const events = await ask(true)
    expect(events).toMatch(/^: waiting\n\n/)
    expect(events).toMatch(/"name":"read_file"[\s\S]*"finish_reason":"tool_calls"[\s\S]*data: \[DONE\]\n\n$/)
  })

  it('refuses what is no chat completion', async () => {
    const { endpoint } = await start()
    const post = async (path: string, body: string) =>
      (await fetch(`${endpoint.url}${path}`, { method: 'POST', body })).status
    expect(await post('/v1/responses', '{}')).toBe(404)
    expect(await post('/v1/chat/completions', 'no')).toBe(400)
    expect(await post('/v1/chat/completions', '{"model": "hand", "messages": []}')).toBe(400)
  })

  it('goes on with the numbers of an earlier run, whose open calls are over', async () => {
    const folder = await temporary()
    const first = await start({ folder })
    const asked = first.client.complete(request()).catch(() => null)
    await waiting(first.endpoint.folder)
    // A call without an end, as a killed endpoint leaves it.
    const left = await readFile(callFile(first.endpoint.folder, 1, 'request.txt'), 'utf8')
    await first.endpoint.close()
    await asked
    await rm(callFile(first.endpoint.folder, 1, 'end.json'), { force: true })
    expect(left).toContain('CALL 1')
    const second = await start({ folder })
    expect(await second.endpoint.folder.waiting()).toEqual([])
    const again = second.client.complete(request())
    expect(await answerNext(second.endpoint, READ)).toBeGreaterThan(1)
    await again
  })
})

const wireTools = TOOLS.map((tool) => ({ type: 'function', function: tool }))

describe('an answer that cannot be sent', () => {
  it.each([
    ['no JSON', '{"text": ', /is no JSON/],
    ['another form', '{"message": "hi"}', /has the form/],
    ['an unknown tool', '{"tool_calls": [{"name": "run_shell"}]}', /no tool "run_shell"; it offers read_file, task/],
    ['broken arguments', '{"tool_calls": [{"name": "read_file", "arguments": "{"}]}', /are no JSON object/],
    ['nothing', '{}', /neither text nor tool calls/],
  ])('%s is told, and the call goes on waiting', async (_, text, message) => {
    const { endpoint, client } = await start()
    const { folder } = endpoint
    const asked = client.complete(request())
    const [call = 0] = await waiting(folder)
    const refused = folder.answer(call, text)
    await expect(refused).rejects.toThrow(AnswerFault)
    await expect(refused).rejects.toThrow(message)
    // The same answer, written without the helper, is put aside with the reason.
    await writeFile(callFile(folder, call, 'answer.json'), text)
    await vi.waitFor(async () => expect(await folder.show(call, { whole: false })).toMatch(message), 20_000)
    expect(await readFile(callFile(folder, call, 'refused.json'), 'utf8')).toBe(text)
    await answerNext(endpoint, READ)
    expect(await asked).toMatchObject({ tool_calls: [{ name: 'read_file' }] })
    expect(await folder.show(call, { whole: false })).not.toMatch(message)
  })

  it('is sent as it is when it says so, to play a weak model', async () => {
    const { endpoint, client } = await start()
    const asked = client.complete(request())
    await answerNext(endpoint, { as_is: true, tool_calls: [{ name: 'run_shell', arguments: '{' }] })
    expect(await asked).toMatchObject({ tool_calls: [{ name: 'run_shell', arguments: '{' }] })
  })
})

describe('statistics', () => {
  it('tell for each round how much of its input an earlier call began with', async () => {
    const { endpoint, client } = await start()
    const play = async (asked: Promise<unknown>) => {
      await answerNext(endpoint, READ)
      await asked
    }
    endpoint.beginRound('a #1', 'a #1, round 1', 'Add a queue.')
    await play(client.complete(request()))
    await play(client.complete(request({ role: 'user', content: 'And then?' })))
    await client.complete({ role: 'small', messages: [{ role: 'user', content: 'One sentence.' }] })
    endpoint.beginRound('a #1', 'a #1, round 2', 'And then?')
    await play(client.complete({ ...request(), role: 'small' }))
    const { total, rounds, chains, called, calls } = summariseCalls(await endpoint.folder.records())
    const [first, second] = calls
    expect(first).toMatchObject({ prefix_chars: 0, chain: 'task_complete', called: ['read_file'] })
    // The second call begins with the whole first one.
    expect(second?.prefix_chars).toBe(first?.input_chars)
    expect(rounds.map((round) => [round.round, round.calls])).toEqual([
      ['a #1, round 1', 2],
      ['a #1, round 2', 1],
    ])
    const expected = (first?.input_chars ?? 0) / ((first?.input_chars ?? 0) + (second?.input_chars ?? 0))
    expect(rounds[0]?.prefix_share).toBeCloseTo(expected)
    // Another model has its own cache, so only a bracket or two can be the same.
    expect(rounds[1]?.prefix_share).toBeLessThan(0.01)
    expect(total.calls).toBe(3)
    expect(chains.map(({ chain, calls: count }) => [chain, count])).toEqual([
      ['task_complete', 3],
      ['status text', 1],
    ])
    expect(called).toEqual({ read_file: 3 })
  })

  it('tell rounds that run at the same time by their requests', async () => {
    const { endpoint, client } = await start()
    const play = async (text: string) => {
      const asked = client.complete({ ...request(), messages: [system, { role: 'user', content: text }] })
      await answerNext(endpoint, READ)
      await asked
    }
    endpoint.beginRound('a #1', 'a #1, round 1', 'Add a queue.')
    endpoint.beginRound('b #1', 'b #1, round 1', 'Add a topic.')
    for (const text of ['Add a queue.', 'REQUEST\nAdd a topic.', 'Describe the drift.']) await play(text)
    endpoint.endRounds('a #1')
    await play('Describe the drift again.')
    expect((await endpoint.folder.records()).map(({ round }) => round)).toEqual([
      'a #1, round 1',
      'b #1, round 1',
      'a #1, round 1 or b #1, round 1',
      'b #1, round 1',
    ])
  })

  it('tell rounds by their first chain where nobody names them', async () => {
    const { endpoint, client } = await start()
    const filter = [{ name: 'requests_filter', description: '', parameters: { type: 'object', properties: {} } }]
    for (const tools of [filter, TOOLS, filter]) {
      const asked = client.complete({ ...request(), tools })
      await answerNext(endpoint, { text: 'ok' })
      await asked
    }
    expect((await endpoint.folder.records()).map(({ round }) => round)).toEqual(['round 1', 'round 1', 'round 2'])
  })
})
