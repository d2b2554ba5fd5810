import { maskUrl } from '../../config/mask-url.ts'
import type { Config } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { builtinPrompts } from '../prompts/builtin.ts'
import { createPromptRegistry } from '../prompts/registry/client.ts'
import { seedPrompts } from '../prompts/registry/seed.ts'
import { registryPrompts } from '../prompts/registry/source.ts'
import type { PromptRegistry } from '../prompts/registry/types.ts'
import { waitForRegistry } from '../prompts/registry/wait.ts'
import type { PromptSource } from '../prompts/types.ts'
import { readSeedPrompts } from './read-seed-prompts.ts'

export interface PromptDeps {
  fetch: Fetch
  log: Logger
  /** For tests: waits between the attempts to reach the registry. */
  pause?: (ms: number) => Promise<void>
}

/**
 * The prompts of this process: those of the registry, which a core fills first, or without one the shipped texts.
 * Errors: `Failed to seed prompts into <registry>: <reason>`; `SeedError` for unusable shipped files.
 */
export async function openPrompts(config: Config, role: 'core' | 'worker', deps: PromptDeps): Promise<PromptSource> {
  const { collector_url: url, api_key } = config.telemetry
  if (url === '') return builtinPrompts(await readSeedPrompts())
  const registry = createPromptRegistry({ url, api_key }, { fetch: deps.fetch })
  if (role === 'core') await fill(registry, maskUrl(url), config.environment, deps)
  return registryPrompts(registry, config.environment)
}

async function fill(
  registry: PromptRegistry,
  name: string,
  tag: Config['environment'],
  { log, pause }: PromptDeps,
): Promise<void> {
  try {
    const shipped = await readSeedPrompts()
    await waitForRegistry(registry, name, pause)
    log.info('prompts seeded', { registry: name, ...(await seedPrompts(registry, shipped, tag)) })
  } catch (cause) {
    throw new Error(
      `Failed to seed prompts into ${name}: ${cause instanceof Error ? cause.message : 'unknown error'}`,
      { cause },
    )
  }
}
