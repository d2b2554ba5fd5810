import { describe, expect, it } from 'vitest'
import { createPricing } from '../../src/llm/prices.ts'

const million = { input_tokens: 1_000_000, cached_tokens: 0, output_tokens: 1_000_000 }
const small = { input_tokens: 10_000, cached_tokens: 4_000, output_tokens: 1_000 }

describe('the price of a call', () => {
  it.each([
    ['anthropic/claude-sonnet-5', 12],
    ['claude-haiku-4-5', 6],
    ['vertex_ai/claude-sonnet-4-5@20250929', 28.5],
    ['bedrock/global.anthropic.claude-sonnet-4-6', 18],
    ['bedrock/eu.anthropic.claude-sonnet-4-6', 19.8],
    ['bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0', 18],
    ['bedrock/us.openai.gpt-6-luna', 1.045],
    ['openai/gpt-6-sol', 19],
    ['openai/gpt-5-nano', 0.45],
    ['openai/gpt-4o-2024-05-13', 20],
    ['gemini/gemini-2.5-flash-lite', 0.5],
    ['openai/gpt-4.1', 10],
    ['gemini/gemini-3.8-flash', 4.5],
    ['ollama/qwen3', 0],
  ])('of %s is in the table', (model, dollars) => {
    expect(createPricing({})(model, million)).toBeCloseTo(dollars, 9)
  })

  it.each([
    'openai/unheard-of',
    'openai/gpt-4.1-unheard-of',
    'openrouter/anthropic/claude-sonnet-5',
    'openai/scripted-model',
    'foo/claude-sonnet-5',
    'ollama_x/y',
  ])('of %s is not known', (model) => {
    expect(createPricing({})(model, million)).toBeNull()
  })

  it('takes what was cached for less, what was written to the cache for more', () => {
    const price = createPricing({})
    expect(price('anthropic/claude-sonnet-5', small)).toBeCloseTo((6_000 * 2 + 4_000 * 0.2 + 1_000 * 10) / 1e6, 12)
    expect(price('anthropic/claude-sonnet-5', { ...small, cache_write_tokens: 5_000 })).toBeCloseTo(
      (1_000 * 2 + 4_000 * 0.2 + 5_000 * 2.5 + 1_000 * 10) / 1e6,
      12,
    )
  })

  it('is higher for long input where the provider says so', () => {
    const price = createPricing({})
    const at = (input_tokens: number) =>
      price('anthropic/claude-haiku-5-5', { input_tokens, cached_tokens: 0, output_tokens: 0 })
    expect(at(100_000)).toBeCloseTo(0.01, 9)
    expect(at(200_000)).toBeCloseTo(0.1, 9)
  })

  it.each([
    ['openai/gpt-5.5', 272_000, 5, 0.5, [10, 1, 45]],
    ['openai/gpt-5.4', 272_000, 2.5, 0.25, [5, 0.5, 22.5]],
    ['gemini/gemini-3.1-pro-preview', 200_000, 2, 0.2, [4, 0.4, 18]],
    ['xai/grok-4.5', 200_000, 2, 0.5, [4, 1, 12]],
  ] as const)('of %s doubles for input of more than %d tokens', (model, limit, input, cached, [
    more,
    morecached,
    out,
  ]) => {
    const price = createPricing({})
    const at = (input_tokens: number, output_tokens = 0) =>
      (price(model, { input_tokens, cached_tokens: 100_000, output_tokens }) ?? 0) * 1e6
    expect(at(limit)).toBeCloseTo((limit - 100_000) * input + 100_000 * cached, 6)
    expect(at(limit + 1)).toBeCloseTo((limit - 99_999) * more + 100_000 * morecached, 6)
    expect(at(limit + 1, 1_000) - at(limit + 1)).toBeCloseTo(1_000 * out, 6)
  })

  it('is the configured one first; patterns are no regular expressions', () => {
    const price = createPricing({
      'openai/a.b*': { input: 1, output: 2 },
      '*': { input: 0, output: 3, cached_input: 0 },
    })
    expect(price('openai/a.b-large', million)).toBe(3)
    expect(price('openai/axb', million)).toBe(3)
    expect(price('anthropic/claude-sonnet-5', { ...million, output_tokens: 0 })).toBe(0)
  })
})
