import { notFound, PlatformError } from '../../base/errors.ts'
import type { PromptSource } from '../source.ts'
import { type PromptRegistry, RegistryError, type Tag } from './types.ts'

/** What the registry itself accepts; keeps a name that a model made up from becoming another path. */
const NAME = /^[a-z0-9][a-z0-9_-]*$/

/**
 * Prompts as they are in the registry at this moment: nothing is kept, a change holds from the next run on.
 * @param tag of the environment
 */
export function registryPrompts(registry: Pick<PromptRegistry, 'tagged'>, tag: Tag): PromptSource {
  return {
    async body(name, signal) {
      if (!NAME.test(name)) throw notFound(`Prompt not found: ${name}`)
      const version = await registry.tagged(name, tag, signal).catch((cause: unknown) => {
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
