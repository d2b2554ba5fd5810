import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { maskUrl } from '../../config/mask-url.ts'
import { DEFAULT_COLLECTOR_URL } from '../../config/sections/connections.ts'
import type { Config } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { parseSeeds, type SeedPrompt } from '../prompts/parse-seed.ts'
import { createPromptRegistry, type PromptRegistry, seedPrompts, waitForRegistry } from '../prompts/registry.ts'
import { createBuiltinPrompts, createRegistryPrompts, type PromptSource } from '../prompts/source.ts'
import type { HostResolver } from '../repository/remote.ts'

export interface PromptDeps {
  fetch: Fetch
  log: Logger
  /** Prevents other cores from writing prompts during the work. By default no other core is expected. */
  alone?: <T>(work: () => Promise<T>) => Promise<T>
  /** Waits between two attempts to reach the registry; tests replace it. */
  pause?: (ms: number) => Promise<void>
}

/**
 * Opens the prompts of this process: those of the registry, into which a core first writes the shipped ones, or without
 * a registry the shipped texts. Throws `Failed to seed prompts into <registry>: <reason>`; `SeedError` for unusable
 * shipped files.
 */
export async function openPrompts(config: Config, role: 'core' | 'worker', deps: PromptDeps): Promise<PromptSource> {
  const { collector_url: url, api_key } = config.telemetry
  if (url === '') return createBuiltinPrompts(await readSeedPrompts())
  const registry = createPromptRegistry({ url, api_key }, { fetch: deps.fetch })
  if (role === 'core') await seedRegistry(registry, maskUrl(url), config.environment, deps)
  return createRegistryPrompts(registry, config.environment)
}

async function seedRegistry(
  registry: PromptRegistry,
  name: string,
  tag: Config['environment'],
  { log, pause, alone = (work) => work() }: PromptDeps,
): Promise<void> {
  try {
    const shipped = await readSeedPrompts()
    await waitForRegistry(registry, name, pause)
    // Of two cores that boot together on an empty registry, the second one finds the first one's prompts.
    const counts = await alone(() => seedPrompts(registry, shipped, tag))
    log.info('prompts seeded', { registry: name, ...counts })
  } catch (cause) {
    throw new Error(
      `Failed to seed prompts into ${name}: ${cause instanceof Error ? cause.message : 'unknown error'}`,
      { cause },
    )
  }
}

const SEED_FOLDER = fileURLToPath(new URL('../prompts/seed/', import.meta.url))

/** Reads all `*.yaml` files below a folder as prompts by qualified name. Throws `SeedError` with all invalid files. */
export async function readSeedPrompts(folder: string = SEED_FOLDER): Promise<Map<string, SeedPrompt>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
  return parseSeeds(
    await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') }))),
  )
}

/**
 * Returns the configuration without the collector if its address is the default one and that host does not exist. The
 * default names the collector of the compose deployment, so elsewhere none was configured: the built-in prompts are
 * used and no spans are sent. A configured address must answer.
 */
export async function withoutMissingCollector(config: Config, resolve: HostResolver, log: Logger): Promise<Config> {
  const { collector_url } = config.telemetry
  if (collector_url !== DEFAULT_COLLECTOR_URL) return config
  const addresses = await resolve(new URL(collector_url).hostname).catch(() => [])
  if (addresses.length > 0) return config
  log.warn(
    'telemetry.collector_url is at its default and its host does not exist here: ' +
      'built-in prompts serve, no spans are sent',
    { collector_url },
  )
  return { ...config, telemetry: { ...config.telemetry, collector_url: '' } }
}
