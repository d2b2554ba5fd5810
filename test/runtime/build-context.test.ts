import { expect, it } from 'vitest'
import type { Inference, LlmClient } from '../../src/llm/inference.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { countEngineTime, countTokens, createLazyLlmClient } from '../../src/runtime/build-context.ts'
import type { IacClient } from '../../src/services/iac/contract.ts'
import { parseMetrics, sampleOf } from '../observe/parse-metrics.ts'

it('counts the tokens of searches, and tells who else asked', async () => {
  const metrics = createMetrics('worker', '1')
  const used = { model: 'm', usage: { input_tokens: 7, cached_tokens: 0, output_tokens: 3 } }
  const search: LlmClient['search'] = async (_query, options) => {
    options?.observe?.(used)
    return 'found'
  }
  const llm = countTokens({ complete: () => Promise.reject(new Error('away')), search }, metrics)
  const told: unknown[] = []
  await llm.search('x', { role: 'main', observe: (each) => told.push(each) })
  expect(told).toEqual([used])
  expect(
    sampleOf(parseMetrics(await metrics.registry.render()), 'platform_model_tokens_total', {
      role: 'main',
      kind: 'input',
    }),
  ).toBe(7)
})

it('counts the tokens of answers and lets failures pass', async () => {
  const metrics = createMetrics('worker', '1')
  const usage = { input_tokens: 100, cached_tokens: 40, output_tokens: 10 }
  const answer = { model: 'm', text: '', tool_calls: [], finish: 'end_turn' as const, finish_raw: 'stop', usage }
  const llm: LlmClient = countTokens(
    {
      complete: async ({ role }) => (role === 'main' ? answer : Promise.reject(new Error('away'))),
      search: async () => 'found',
    },
    metrics,
  )
  expect(await llm.complete({ role: 'main', messages: [] })).toBe(answer)
  await expect(llm.complete({ role: 'small', messages: [] })).rejects.toThrow('away')
  expect(await llm.search('x')).toBe('found')
  const found = parseMetrics(await metrics.registry.render())
  const tokens = (kind: string) => sampleOf(found, 'platform_model_tokens_total', { role: 'main', kind })
  expect([tokens('input'), tokens('cached'), tokens('output')]).toEqual([100, 40, 10])
  expect(sampleOf(found, 'platform_model_tokens_total', { role: 'small' })).toBeUndefined()
})

it('counts the time of engine jobs, of those that fail too', async () => {
  const metrics = createMetrics('worker', '1')
  const run: IacClient['run'] = async (kind) => {
    if (kind === 'init') throw new Error('refused')
    return { exit_code: 0, stdout: '', stderr: '' }
  }
  const iac = countEngineTime(
    {
      run,
      submit: async () => 'id',
      wait: async () => ({ exit_code: 0, stdout: '', stderr: '' }),
      healthy: async () => true,
      engine: async () => null,
      schema: async () => null,
      diagnostics: async () => null,
    },
    metrics,
  )
  expect((await iac.run('validate', { workspace_path: '/x' })).exit_code).toBe(0)
  await expect(iac.run('init', { workspace_path: '/x', scope_id: 's', engine_provider: 'aws' })).rejects.toThrow(
    'refused',
  )
  expect(await iac.healthy()).toBe(true)
  const jobs = parseMetrics(await metrics.registry.render()).get('platform_engine_seconds_total')?.samples ?? []
  expect(jobs.map(({ labels }) => labels.job)).toEqual(['validate', 'init'])
})

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
