import { PlatformError } from '../src/base/errors.ts'
import type { Usage } from '../src/llm/types.ts'

/** What a session may still spend on models. */
export interface TokenBudget {
  /** Errors: `PlatformError` `TokenBudgetExceeded` when nothing is left. */
  check(): void
  spend(usage: Usage): void
}

/**
 * @param limit tokens of all rounds of the session together
 * @param before what earlier rounds used
 */
export function createTokenBudget(limit: number, before: number): TokenBudget {
  let used = before
  return {
    check: () => {
      if (used < limit) return
      throw new PlatformError(
        'TokenBudgetExceeded',
        429,
        `the session has used ${used} tokens, its limit is ${limit} (llm.max_session_tokens).`,
      )
    },
    spend: ({ input_tokens, output_tokens }) => {
      used += input_tokens + output_tokens
    },
  }
}
