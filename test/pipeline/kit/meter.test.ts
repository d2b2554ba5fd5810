import { expect, it } from 'vitest'
import { createMeter } from '../../../pipeline/kit/meter.ts'

const inference = (durationMs: number) => ({
  type: 'inference' as const,
  chain: 'IAC_GENERATOR' as const,
  model: 'm',
  usage: { input_tokens: 100, cached_tokens: 40, output_tokens: 10 },
  durationMs,
  finish: 'stop',
})

it('adds tokens and calls by chain and in all', () => {
  const meter = createMeter({ now: () => 0 })
  meter.observe(inference(500))
  meter.observe({ ...inference(250), chain: 'STATUS_UPDATE' })
  meter.observe({ type: 'tool', chain: 'IAC_GENERATOR', name: 'read_file', success: true, durationMs: 5 })
  meter.countAttempt()
  meter.countAttempt()
  expect(meter.usage()).toMatchObject({
    input_tokens: 200,
    cached_tokens: 80,
    output_tokens: 20,
    validation_attempts: 2,
    chains: {
      IAC_GENERATOR: { calls: 1, tool_calls: 1, input_tokens: 100, output_tokens: 10, model_s: 0.5 },
      STATUS_UPDATE: { calls: 1, tool_calls: 0, model_s: 0.25 },
    },
  })
})

it('counts overlapping time once, and engine time before model time', () => {
  let now = 0
  const meter = createMeter({ now: () => now })
  now = 10_000
  meter.recordEngineTime(4_000) // 6 to 10
  now = 11_000
  meter.observe(inference(3_000)) // 8 to 11: one second beside the engine
  now = 12_000
  meter.observe(inference(1_500)) // 10.5 to 12
  now = 20_000
  meter.recordEngineTime(1_000) // 19 to 20
  expect(meter.usage()).toMatchObject({ engine_s: 5, model_s: 2 })
})

it('is all zero for a round that did nothing', () => {
  expect(createMeter().usage()).toEqual({
    engine_s: 0,
    model_s: 0,
    input_tokens: 0,
    cached_tokens: 0,
    output_tokens: 0,
    cost_usd: 0,
    validation_attempts: 0,
    chains: {},
  })
})

it('answers a copy', () => {
  const meter = createMeter()
  meter.observe(inference(1))
  const usage = meter.usage()
  meter.observe(inference(1))
  expect(usage.chains.IAC_GENERATOR?.calls).toBe(1)
})

it('counts from a mark on; calls without a price make only their own part unknown', () => {
  const meter = createMeter({ price: (model) => (model === 'm' ? 0.25 : null) })
  const before = meter.mark()
  meter.observe({ ...inference(1), model: 'unpriced' })
  const after = meter.mark()
  meter.observe(inference(1))
  meter.recordSearch({ model: 'm', usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 2 } })
  expect(after()).toEqual({ input_tokens: 101, cached_tokens: 40, output_tokens: 12, cost_usd: 0.5 })
  expect(before()).toEqual({ input_tokens: 201, cached_tokens: 80, output_tokens: 22, cost_usd: null })
  expect(meter.usage().cost_usd).toBeNull()
  expect(meter.mark()()).toEqual({ input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 })
})
