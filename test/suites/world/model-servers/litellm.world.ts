import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startScriptedModel } from '../../../../dev/scripted-model/start.ts'
import type { Running } from '../../../../dev/server.ts'
import { askText } from '../../../../src/agent/run-agent.ts'
import { startPlatform } from '../phoenix/platform.ts'
import { ANSWER, CALLS, clientOf, type ModelServer, QUESTION, startLlama, startProxy } from './servers.ts'

let folder: string
let scripted: Running
let llama: ModelServer
let proxy: ModelServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-litellm-'))
  scripted = await startScriptedModel()
  llama = await startLlama('parsed', 4_096)
  proxy = await startProxy(folder, {
    scripted: { model: 'openai/scripted-model', api_base: `${scripted.url}/v1`, api_key: 'none' },
    messages: { model: 'anthropic/scripted-model', api_base: `${scripted.url}/anthropic`, api_key: 'none' },
    tiny: { model: 'openai/tiny', api_base: llama.url, api_key: 'none' },
    canned: { model: 'openai/canned', api_key: 'none', mock_response: 'A canned answer.' },
  })
})
afterAll(async () => {
  await proxy?.stop()
  await llama?.stop()
  await scripted?.close()
  await rm(folder, { recursive: true, force: true })
})

describe.each([
  ['a whole answer', false],
  ['a stream', true],
])('%s of the proxy', (_name, streamed) => {
  it('is a canned text', async () => {
    const { text, finish } = await clientOf(proxy.url, 'canned', streamed).complete({ ...QUESTION, tools: [] })
    expect({ text, finish }).toEqual({ text: 'A canned answer.', finish: 'end_turn' })
  })

  it('holds the calls of a model behind llama.cpp', async () => {
    const reply = await clientOf(proxy.url, 'tiny', streamed).complete(QUESTION)
    expect(reply.tool_calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) }))).toEqual(CALLS)
    expect(reply.usage.input_tokens).toBeGreaterThan(100)
  })
})

it('a call that the proxy translates from the Messages API is a call', async () => {
  const tool = {
    name: 'report_intent_statements',
    description: 'Reports.',
    parameters: { type: 'object', properties: {} },
  }
  const { tool_calls, finish } = await clientOf(proxy.url, 'messages').complete({ ...QUESTION, tools: [tool] })
  expect(tool_calls).toMatchObject([{ name: tool.name, arguments: '{"statements": []}' }])
  expect(finish).toBe('tool_use')
})

it('a prompt that is too long behind the proxy is shortened', async () => {
  const query = `Is the bucket private?\n${'resource "aws_s3_bucket" "b" {}\n'.repeat(1_000)}`
  const budget = { tokens: 100_000, estimate: (text: string) => Math.ceil(text.length / 3) }
  const signal = AbortSignal.timeout(120_000)
  const request = { llm: clientOf(proxy.url, 'tiny'), chain: 'c', role: 'main', query, budget, signal } as const
  expect(await askText(request)).toBe(ANSWER)
})

it('what the proxy refuses is said in its words', async () => {
  await expect(clientOf(proxy.url, 'missing').complete(QUESTION)).rejects.toThrow(/missing/)
})

it('a round runs through the proxy to its end', async () => {
  const entry = { model: 'custom_openai/scripted', api_base: proxy.url, api_key: 'none' }
  const platform = await startPlatform(join(folder, 'platform'), '', {
    model: 'm',
    small_model: 'm',
    model_list: [{ model_name: 'm', litellm_params: entry }],
  })
  try {
    const { end } = await platform.begin('generate')
    expect(await end).toBe('COMPLETED')
  } finally {
    await platform.stack.stop()
  }
})
