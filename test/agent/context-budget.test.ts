import { describe, expect, it } from 'vitest'
import { contextBudget, modelSize } from '../../src/agent/context-budget.ts'
import { estimateTokens } from '../../src/llm/tokens.ts'
import { modelConfig } from '../helpers/model-server.ts'

const configOf = (changes: Parameters<typeof modelConfig>[1]) => modelConfig('http://localhost', changes)

describe('contextBudget', () => {
  it('comes from the table of models, less the answer and a margin', () => {
    const { tokens } = contextBudget(
      configOf({ model: 'anthropic/claude-sonnet-5', max_output_tokens: 32_000 }),
      'main',
    )
    expect(tokens).toBe(Math.floor(168_000 * 0.92))
    expect(contextBudget(configOf({ small_model: 'vertex_ai/gemini-3.8-flash' }), 'small').tokens).toBeGreaterThan(
      900_000,
    )
  })

  it('leaves room for the input of small models, and takes what is configured', () => {
    expect(contextBudget(configOf({ context_tokens: 8_000, max_output_tokens: 32_000 }), 'main').tokens).toBe(3_680)
  })

  it('is that of the smallest of several deployments with one name', () => {
    const entry = (model: string) => ({ model_name: 'large', litellm_params: { model } })
    const model_list = [entry('openai/gpt-4.1'), entry('azure/gpt-4o')]
    expect(contextBudget(configOf({ model: 'large', model_list, max_output_tokens: 28_000 }), 'main').tokens).toBe(
      92_000,
    )
  })
})

describe('modelSize', () => {
  it.each([
    ['openai/gpt-5-mini', 272_000],
    ['openai/gpt-4', 8_192],
    ['openai/o3', 200_000],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['openrouter/meta-llama/llama-3.1-70b-instruct', 128_000],
    ['ollama/llama3.1', 32_768],
    ['openai/scripted-model', 128_000],
    ['no-provider', 128_000],
  ])('%s takes %i', (model, tokens) => expect(modelSize(model).contextTokens).toBe(tokens))
})

it('counts other scripts a token for each character', () => {
  expect(estimateTokens('a'.repeat(300), 3)).toBe(100)
  expect(estimateTokens('日本語', 3)).toBe(3)
  expect(estimateTokens('', 3)).toBe(0)
})
