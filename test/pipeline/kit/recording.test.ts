import { describe, expect, it } from 'vitest'
import { createReplayLlm, normalise } from '../../../eval/replay/answers.ts'
import {
  createRoundRecorder,
  type RecordedRound,
  RecordingError,
  readRecording,
  sealLine,
} from '../../../pipeline/kit/recording.ts'
import { PlatformError } from '../../../src/base/errors.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createMasker } from '../../../src/base/masking.ts'
import type { Inference, InferenceRequest, LlmClient } from '../../../src/llm/inference.ts'
import { fence } from '../../../src/prompts/layout.ts'

const ROUND: RecordedRound = {
  session: 'e1b5c3a0-0000-4000-8000-000000000001',
  round: 1,
  attempt: 1,
  mode: 'generate',
  is_partial: false,
  query: 'Add a queue',
  repository: 'https://git.example/acme/infra.git',
  iac_path: null,
  scope_id: '1',
  provider: 'aws',
  models: { main: 'a/b', small: 'a/c' },
  recorded_at: '2026-01-01T00:00:00.000Z',
}
const answer = (text: string): Inference => ({
  model: 'a/b',
  text,
  tool_calls: [],
  finish: 'end_turn',
  finish_raw: 'stop',
  usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 1 },
})
const ask = (content: string, tools: string[] = []): InferenceRequest => ({
  role: 'main',
  messages: [{ role: 'user', content }],
  ...(tools.length > 0 && { tools: tools.map((name) => ({ name, description: '', parameters: {} })) }),
})

async function record(
  llm: LlmClient,
  use: (client: LlmClient) => Promise<unknown>,
  masked: string[] = [],
): Promise<string> {
  const written: string[] = []
  const write = async (_: string, text: string) => void written.push(text)
  const recorder = createRoundRecorder({ write, log: silentLogger, secrets: [] })
  const round = recorder.round(ROUND)
  await use(round.client(llm, createMasker(masked)))
  await round.close({ status: 'completed', message: 'GENERATE' })
  return written.at(-1) ?? ''
}

const echo: LlmClient = {
  complete: async ({ messages }) => answer(`to ${messages.at(-1)?.content}`),
  search: async (query, options) => {
    options?.observe?.({ model: 'a/s', usage: { input_tokens: 3, cached_tokens: 0, output_tokens: 4 } })
    return `found ${query}`
  },
}

describe('a recording', () => {
  it('answers the same messages with the same words, in any order', async () => {
    const text = await record(echo, async (llm) => {
      for (const word of ['one', 'two', 'three']) await llm.complete(ask(word))
    })
    const replay = await createReplayLlm(await readRecording(text))
    for (const word of ['three', 'one', 'two']) expect((await replay.complete(ask(word))).text).toBe(`to ${word}`)
    expect(replay.statistics()).toEqual({ calls: 3, byPosition: 0, unused: 0, missed: [] })
  })

  it('does not mind ids of fences, UUIDs, times, temporary folders and ports', async () => {
    const said = (port: number) =>
      `${fence('file', 'a')} ${crypto.randomUUID()} ${new Date().toISOString()} /tmp/x-${port}/main.tf ` +
      `http://127.0.0.1:${port}/ after ${port % 7}s`
    const text = await record(echo, async (llm) => {
      await llm.complete(ask('before'))
      await llm.complete(ask(said(3001)))
    })
    const replay = await createReplayLlm(await readRecording(text))
    await replay.complete(ask(said(4002)))
    expect(replay.statistics()).toMatchObject({ byPosition: 0, unused: 1 })
  })

  it('tells texts apart that only look alike', () => {
    expect(normalise('retention_days = 30')).not.toBe(normalise('retention_days = 31'))
    expect(normalise('port 8080')).not.toBe(normalise('port 8081'))
  })

  it('goes on by position within a chain and says so', async () => {
    const text = await record(echo, async (llm) => {
      await llm.complete(ask('a', ['read', 'finish']))
      await llm.complete(ask('b', ['other']))
      await llm.complete(ask('c', ['read', 'finish']))
    })
    const replay = await createReplayLlm(await readRecording(text))
    expect((await replay.complete(ask('changed', ['read', 'finish']))).text).toBe('to a')
    expect((await replay.complete(ask('c', ['read', 'finish']))).text).toBe('to c')
    expect(replay.statistics()).toMatchObject({ byPosition: 1, unused: 1 })
    await expect(replay.complete(ask('d', ['read', 'finish']))).rejects.toThrow(
      'The recording has no answer for call 3, chain finish (main model, tools read): all 2 of these are used.',
    )
    await expect(replay.search('weather')).rejects.toThrow('search "weather": it has no such call')
  })

  it('repeats searches with what they used, and errors as they were', async () => {
    const failing: LlmClient = {
      ...echo,
      complete: async () => Promise.reject(new PlatformError('InferenceCallAPIError', 529, 'overloaded')),
    }
    const text = await record(failing, async (llm) => {
      await llm.search('prices')
      await llm.complete(ask('a')).catch(() => {})
    })
    const replay = await createReplayLlm(await readRecording(text))
    const used: unknown[] = []
    expect(await replay.search('prices', { observe: (what) => used.push(what) })).toBe('found prices')
    expect(used).toEqual([{ model: 'a/s', usage: { input_tokens: 3, cached_tokens: 0, output_tokens: 4 } }])
    await expect(replay.complete(ask('a'))).rejects.toMatchObject({
      code: 'InferenceCallAPIError',
      status: 529,
      message: 'overloaded',
    })
  })

  it('hides what turns out to be secret after it was said', async () => {
    const text = await record(echo, (llm) => llm.complete(ask('the password is swordfish-4711')), ['swordfish-4711'])
    expect(text).not.toContain('swordfish')
    expect((await readRecording(text)).completions[0]?.answer?.text).toBe('to the password is (sensitive value)')
  })

  it('is kept as it was when the messages grow later', async () => {
    const request = ask('first')
    const text = await record(echo, async (llm) => {
      await llm.complete(request)
      request.messages.push({ role: 'user', content: 'later' })
    })
    expect((await readRecording(text)).completions[0]?.request.messages).toHaveLength(1)
  })
})

describe('a file that is not as it was written', () => {
  const without = (line: number, count: number) => (text: string) => text.split('\n').toSpliced(line, count).join('\n')
  const good = () => record(echo, (llm) => llm.complete(ask('one')))
  it.each<[string, (text: string) => string, RegExp]>([
    ['a changed answer', (text) => text.replace('to one', 'to two'), /^Line 2 of the recording was changed or cut off/],
    ['a line cut off', (text) => text.slice(0, -80), /^Line 3 of the recording was changed or cut off/],
    ['no last line', without(2, 9), /^The recording is not complete: its last line/],
    ['a missing call', without(1, 1), /^The recording is not complete: it holds 0 of 1 calls\./],
    ['an empty file', () => '', /^The file is no recording/],
    ['another file', () => 'hello\n', /^Line 1 of the recording was changed/],
  ])('%s is refused', async (_, change, message) => {
    const reading = readRecording(change(await good()))
    await expect(reading).rejects.toThrow(RecordingError)
    await expect(reading).rejects.toThrow(message)
  })

  it('of a later form is refused by its number', async () => {
    const lines = (await good()).split('\n')
    const text = [await sealLine({ kind: 'round', ...ROUND, version: 2 }), ...lines.slice(1)].join('\n')
    await expect(readRecording(text)).rejects.toThrow(/^Line 1 of the recording: version: .*form/)
  })
})
