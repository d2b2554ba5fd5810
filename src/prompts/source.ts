import { notFound } from '../base/errors.ts'
import type { SeedPrompt } from './parse-seed.ts'

/**
 * Prompt bodies by qualified name `<scope>-<type>-<name>`.
 * Errors: `PlatformError` 404 `Prompt not found: <name>`, 502 when the registry of prompts fails; the
 * signal's reason, or `OutboundError` kind `aborted`, when the signal fires.
 */
export interface PromptSource {
  body(name: string, signal?: AbortSignal): Promise<string>
}

/** Serves the shipped texts, without a registry of prompts. */
export function createBuiltinPrompts(prompts: ReadonlyMap<string, SeedPrompt>): PromptSource {
  return {
    async body(name) {
      const prompt = prompts.get(name)
      if (prompt === undefined) throw notFound(`Prompt not found: ${name}`)
      return prompt.body
    },
  }
}
