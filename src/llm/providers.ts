import { providerOf } from '../../config/provider-variables.ts'
import { connectBedrock } from './connect/bedrock.ts'
import type { Connection, ModelEntry } from './connect/connection.ts'
import { connectGemini, connectVertex } from './connect/google.ts'
import { connectAnthropic, connectAzure, openaiQuirks, type PlainProvider } from './connect/plain.ts'

/** A provider with its own rules for addresses, credentials or the form of requests. */
interface SpecialProvider extends Pick<PlainProvider, 'name' | 'aliases' | 'bare'> {
  connect: (entry: ModelEntry) => Connection
}

const PROVIDERS: readonly (PlainProvider | SpecialProvider)[] = [
  {
    name: 'openai',
    bare: /^(gpt-|chatgpt-|o\d)/,
    base_url: 'https://api.openai.com/v1',
    baseUrlVariables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
    keyVariables: ['OPENAI_API_KEY'],
    organizationVariable: 'OPENAI_ORGANIZATION',
    quirks: openaiQuirks,
  },
  { name: 'azure', connect: connectAzure },
  { name: 'anthropic', bare: /^claude-/, connect: connectAnthropic },
  { name: 'gemini', connect: connectGemini },
  { name: 'vertex_ai', aliases: ['vertex_ai_beta'], connect: connectVertex },
  { name: 'bedrock', aliases: ['bedrock_converse'], connect: connectBedrock },
  {
    name: 'mistral',
    base_url: 'https://api.mistral.ai/v1',
    // It sends the usage of a stream in any case.
    quirks: () => ({ search: 'conversations', call_id: /^[a-zA-Z0-9]{9}$/, unsupported: ['stream_options'] }),
  },
  {
    name: 'groq',
    base_url: 'https://api.groq.com/openai/v1',
    quirks: (id) => {
      if (/^(groq\/)?compound/.test(id)) return { search: 'plain' }
      return {
        writtenCalls: true,
        unsupported: /gpt-oss|qwen3/.test(id) ? [] : ['reasoning_effort'],
        search: /gpt-oss/.test(id) ? 'groq' : null,
      }
    },
  },
  { name: 'deepseek', base_url: 'https://api.deepseek.com', quirks: () => ({ echo: ['reasoning_content'] }) },
  {
    name: 'xai',
    base_url: 'https://api.x.ai/v1',
    quirks: (id) => ({ search: /^grok-([4-9]|\d\d)/.test(id) ? 'responses' : null, searchSize: false }),
  },
  {
    name: 'openrouter',
    base_url: 'https://openrouter.ai/api/v1',
    quirks: () => ({ search: 'openrouter', writtenCalls: true, echo: ['reasoning_details', 'extra_content'] }),
  },
  {
    name: 'together_ai',
    base_url: 'https://api.together.ai/v1',
    baseUrlVariables: ['TOGETHERAI_API_BASE'],
    keyVariables: ['TOGETHERAI_API_KEY', 'TOGETHER_API_KEY'],
    quirks: () => ({ writtenCalls: true }),
  },
  {
    name: 'fireworks_ai',
    base_url: 'https://api.fireworks.ai/inference/v1',
    baseUrlVariables: ['FIREWORKS_API_BASE'],
    keyVariables: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'],
    quirks: () => ({ writtenCalls: true }),
  },
  {
    name: 'cohere',
    aliases: ['cohere_chat'],
    base_url: 'https://api.cohere.ai/compatibility/v1',
    quirks: () => ({ unsupported: ['tool_choice', 'reasoning_effort', 'stream_options'], maxTemperature: 1 }),
  },
  {
    name: 'perplexity',
    base_url: 'https://api.perplexity.ai',
    baseUrlVariables: ['PERPLEXITYAI_API_BASE'],
    keyVariables: ['PERPLEXITYAI_API_KEY', 'PERPLEXITY_API_KEY'],
    quirks: () => ({ search: 'chat' }),
  },
  { name: 'ollama', aliases: ['ollama_chat'], base_url: null, defaultPath: '/v1', keyOptional: true },
  { name: 'hosted_vllm', aliases: ['vllm'], base_url: null, defaultPath: '/v1', keyOptional: true },
  { name: 'custom_openai', aliases: ['openai_like'], base_url: null, keyOptional: true },
]

/** Finds the provider of `<provider>/<model-id>` and the bare model id; null when the provider is not supported. */
export function providerFor(model: string): { provider: PlainProvider | SpecialProvider; modelId: string } | null {
  const prefix = providerOf(model)
  const provider = PROVIDERS.find((row) =>
    prefix === '' ? row.bare?.test(model) : row.name === prefix || row.aliases?.includes(prefix),
  )
  return provider ? { provider, modelId: prefix === '' ? model : model.slice(prefix.length + 1) } : null
}

export const knownProviders = (): string[] => PROVIDERS.map((row) => row.name)
