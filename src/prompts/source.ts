import { notFound, PlatformError } from '../base/errors.ts'
import type { SeedPrompt } from './parse-seed.ts'
import { type PromptRegistry, RegistryError, type Tag } from './registry.ts'

/**
 * Prompt bodies by qualified name `<scope>-<type>-<name>`. Throws `PlatformError` 404 `Prompt not found: <name>`, 502
 * when the prompt registry fails; the signal's reason, or `OutboundError` of kind `aborted`, when the signal fires.
 */
export interface PromptSource {
  body(name: string, signal?: AbortSignal): Promise<string>
}

/** Serves the shipped texts, without a prompt registry. */
export function createBuiltinPrompts(prompts: ReadonlyMap<string, SeedPrompt>): PromptSource {
  return {
    async body(name) {
      const prompt = prompts.get(name)
      if (prompt === undefined) throw notFound(`Prompt not found: ${name}`)
      return prompt.body
    },
  }
}

/** Names that the registry accepts. A model may invent a name with a slash, which would be another path of the API. */
const NAME = /^[a-z0-9][a-z0-9_-]*$/

/**
 * Reads prompts from the registry without caching, so that a change applies from the next run of a chain on.
 * @param tag the tag of this environment
 */
export function createRegistryPrompts(registry: Pick<PromptRegistry, 'findTagged'>, tag: Tag): PromptSource {
  return {
    async body(name, signal) {
      if (!NAME.test(name)) throw notFound(`Prompt not found: ${name}`)
      const version = await registry.findTagged(name, tag, signal).catch((cause: unknown) => {
        if (!(cause instanceof RegistryError)) throw cause
        const reason =
          cause.kind === 'unreachable' ? 'the prompt registry is unreachable' : 'the prompt registry refused the call'
        throw new PlatformError('PromptRegistryFailed', 502, `Prompt could not be fetched: ${name} (${reason}).`, {
          cause,
        })
      })
      if (version === null) throw notFound(`Prompt not found: ${name}`)
      if (version.text === null || version.text.trim() === '')
        throw new PlatformError('PromptRegistryFailed', 502, `Prompt could not be fetched: ${name} (it holds no text).`)
      return version.text
    },
  }
}
