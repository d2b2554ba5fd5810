import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { SEED_MODEL } from '../../src/prompts/registry/types.ts'
import type { PromptStore } from './prompt-store.ts'

/**
 * Removes prompts that nobody edited and whose text is not the shipped one any more, so that the core seeds
 * them anew: a stack of an earlier day follows the sources. Answers their names.
 */
export function dropOutdated(store: PromptStore, shipped: ReadonlyMap<string, SeedPrompt>): string[] {
  return store.names().filter((name) => {
    const versions = store.versionsOf(name)
    if (versions.some(({ data }) => data.model_name !== SEED_MODEL)) return false
    const body = shipped.get(name)?.body
    const current =
      body !== undefined && versions.every(({ data }) => JSON.stringify(data.template).includes(JSON.stringify(body)))
    return !current && store.remove(name)
  })
}
