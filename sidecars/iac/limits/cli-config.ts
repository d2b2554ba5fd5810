import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface ProviderSources {
  /** Patterns such as `hashicorp/*`; empty: every provider. */
  allowed: readonly string[]
  /** Folder with providers in the engine's mirror layout; empty: none. */
  mirror: string
  /** Nothing is downloaded: providers come from the mirror alone. */
  offline: boolean
}

/**
 * The engine's own configuration of where providers may come from; null when nothing is restricted.
 * The engine refuses the others itself, during `init`, with their names.
 */
export function cliConfig({ allowed, mirror, offline }: ProviderSources): string | null {
  if (allowed.length === 0 && mirror === '' && !offline) return null
  const include =
    allowed.length > 0 ? `\n    include = [${allowed.map((pattern) => JSON.stringify(pattern)).join(', ')}]` : ''
  const methods = [
    mirror === '' ? '' : `  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}${include}\n  }\n`,
    offline ? '' : `  direct {${include === '' ? '' : `${include}\n  `}}\n`,
  ]
  return `provider_installation {\n${methods.join('')}}\ndisable_checkpoint = true\n`
}

/** Writes it into the data folder; answers its path, null when nothing is restricted. */
export async function writeCliConfig(data_dir: string, sources: ProviderSources): Promise<string | null> {
  const text = cliConfig(sources)
  if (text === null) return null
  const path = join(data_dir, 'engine.tfrc')
  await writeFile(path, text, { mode: 0o600 })
  return path
}
