import type { LlmConfig } from '../../config/types.ts'
import type { ModelRole } from '../llm/inference.ts'
import { estimateTokens } from '../llm/tokens.ts'

/** The maximum input of one model call. */
export interface ContextBudget {
  /** Estimated tokens of messages and tools together. */
  tokens: number
  /** Returns the tokens of a text, estimated on the high side. */
  estimate(text: string): number
}

/** Used share of the context window without the answer; the rest allows for errors of the estimate. */
const SAFETY = 0.92

/** Returns the budget of a role's model, by the smallest context window of the deployments a call may use. */
export function contextBudget(
  config: Pick<LlmConfig, 'model' | 'small_model' | 'model_list' | 'max_output_tokens' | 'context_tokens'>,
  role: ModelRole,
): ContextBudget {
  const name = role === 'main' ? config.model : config.small_model
  const listed = config.model_list
    .filter(({ model_name }) => model_name === name)
    .map(({ litellm_params }) => litellm_params.model)
  const sizes = (listed.length > 0 ? listed : [name]).map(modelSize)
  const window = config.context_tokens || Math.min(...sizes.map(({ contextTokens }) => contextTokens))
  const answer = Math.min(config.max_output_tokens, window / 2)
  const charsPerToken = Math.min(...sizes.map((size) => size.charsPerToken))
  return { tokens: Math.floor((window - answer) * SAFETY), estimate: (text) => estimateTokens(text, charsPerToken) }
}

/**
 * Sizes by model id, without the provider prefix; the first match counts. `contextTokens` is the maximum input of a
 * call, at most the context window; `charsPerToken` is for ASCII text in code and plans, on the low side. Source: the
 * model pages of the vendors.
 */
const SIZES: readonly (readonly [model: RegExp, contextTokens: number, charsPerToken: number])[] = [
  [/claude/, 200_000, 2.7],
  [/gpt-5/, 272_000, 3.4],
  [/gpt-4\.1/, 1_047_576, 3.4],
  [/gpt-4o|gpt-4-turbo|chatgpt-4o/, 128_000, 3.4],
  [/gpt-4-32k/, 32_768, 3.2],
  [/gpt-4/, 8_192, 3.2],
  [/gpt-3\.5/, 16_385, 3.2],
  [/gpt-oss/, 131_072, 3.4],
  [/(^|[/.])o[1-9](-|$)/, 200_000, 3.4],
  [/gemini/, 1_048_576, 3.2],
  [/gemma/, 128_000, 3.2],
  [/codestral/, 256_000, 2.8],
  [/mixtral|mistral-7b|open-mistral/, 32_768, 2.8],
  [/mistral|ministral|magistral|devstral/, 128_000, 2.8],
  [/deepseek/, 128_000, 3.1],
  [/grok-[4-9]|grok-code/, 256_000, 3.1],
  [/grok/, 131_072, 3.1],
  [/llama-?3[.-][123]|llama-?v3p[123]|llama-?[4-9]/, 128_000, 3.2],
  [/llama/, 8_192, 2.8],
  [/command-a/, 256_000, 3],
  [/command/, 128_000, 3],
  [/sonar-pro/, 200_000, 3.2],
  [/sonar/, 127_000, 3.2],
  [/kimi|moonshot/, 128_000, 3],
  [/qwen-?2/, 32_768, 3],
  [/qwen/, 128_000, 3],
  [/nova/, 128_000, 3],
  [/phi/, 16_384, 3],
]

/** Assumed context of a local server, which may drop the rest of a longer input without an error. */
const LOCAL_TOKENS = 32_768

/** @param model `<provider>/<model-id>` */
export function modelSize(model: string): { contextTokens: number; charsPerToken: number } {
  const name = model.toLowerCase()
  const known = SIZES.find(([pattern]) => pattern.test(name.slice(name.indexOf('/') + 1)))
  const [, contextTokens, charsPerToken] = known ?? [null, 128_000, 2.7]
  const limit = name.startsWith('ollama') ? LOCAL_TOKENS : contextTokens
  return { contextTokens: Math.min(contextTokens, limit), charsPerToken }
}
