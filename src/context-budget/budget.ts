import type { LlmConfig } from '../../config/types.ts'
import type { ModelRole } from '../llm/types.ts'
import { modelSize } from './windows.ts'

/** What the input of one model call may hold. */
export interface ContextBudget {
  /** Estimated tokens of messages and tools together. */
  tokens: number
  /** Tokens of a text, estimated on the high side. */
  estimate(text: string): number
}

/** Of what is left beside the answer; the rest is for what the estimate misses. */
const SAFETY = 0.92

/**
 * The budget of a role's model. Of several deployments that share a name the smallest counts, because each of
 * them may be asked.
 */
export function contextBudget(
  config: Pick<LlmConfig, 'model' | 'small_model' | 'model_list' | 'max_output_tokens' | 'context_tokens'>,
  role: ModelRole,
): ContextBudget {
  const name = role === 'main' ? config.model : config.small_model
  const listed = config.model_list
    .filter(({ model_name }) => model_name === name)
    .map(({ litellm_params }) => litellm_params.model)
  const sizes = (listed.length > 0 ? listed : [name]).map(modelSize)
  const window = config.context_tokens || Math.min(...sizes.map(({ context_tokens }) => context_tokens))
  const answer = Math.min(config.max_output_tokens, window / 2)
  const chars_per_token = Math.min(...sizes.map((size) => size.chars_per_token))
  return { tokens: Math.floor((window - answer) * SAFETY), estimate: (text) => estimateTokens(text, chars_per_token) }
}

/** What is not ASCII counts a token for each UTF-16 unit: other scripts are cut into small pieces. */
export function estimateTokens(text: string, chars_per_token: number): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return Math.ceil((text.length - others) / chars_per_token) + others
}
