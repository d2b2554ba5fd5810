import { notFound } from '../base/errors.ts'
import type { SeedPrompt } from './parse-seed.ts'
import type { PromptSource } from './types.ts'

/** Serves the shipped texts directly. */
export function builtinPrompts(prompts: ReadonlyMap<string, SeedPrompt>): PromptSource {
  return {
    async body(name) {
      const prompt = prompts.get(name)
      if (prompt === undefined) throw notFound(`Prompt not found: ${name}`)
      return prompt.body
    },
  }
}
