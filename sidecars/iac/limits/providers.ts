import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A pattern as the engine's configuration takes it: `[host/]namespace/type`, where namespace and type may be `*`. */
export const PROVIDER_PATTERN = /^(?:[a-z0-9.-]+\.[a-z0-9.:-]+\/)?(?:[a-z0-9_-]+|\*)\/(?:[a-z0-9_-]+|\*)$/i

/**
 * Providers that the lock file of a workspace names and no pattern allows. The engine enforces the patterns only when
 * it installs a provider, and a workspace may bring one that was installed elsewhere.
 */
export async function findForeignProviders(workspacePath: string, allowed: readonly string[]): Promise<string[]> {
  if (allowed.length === 0) return []
  const path = join(workspacePath, '.terraform.lock.hcl')
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  if (size > MAX_LOCK_BYTES) return ['a lock file of more than 1 MiB']
  const lock = await readFile(path, 'utf8').catch(() => '')
  const sources = [...lock.matchAll(QUOTED)]
    .map(([, text = '']) => text)
    .filter((text) => /[/\\]/.test(text) && !HASH.test(text))
  return sources
    .map((source) => source.toLowerCase())
    .filter((source) => !BUILT_IN.test(source) && !allowed.some((pattern) => matches(pattern.toLowerCase(), source)))
}

/** A lock file has some hundred bytes for each provider. */
const MAX_LOCK_BYTES = 1024 * 1024
/** Comments may stand between the words of a block, so every quoted text that could be an address counts as one. */
const QUOTED = /"([^"\n]*)"/g
const HASH = /^(h1:[A-Za-z0-9+/]{43}=|zh:[0-9a-f]{64})$/
const BUILT_IN = /^terraform\.io\/builtin\//
const DEFAULT_HOSTS = ['registry.terraform.io', 'registry.opentofu.org']

function matches(pattern: string, source: string): boolean {
  const [host = '', namespace = '', type = ''] = source.split('/')
  const parts = pattern.split('/')
  const [typePattern = '', namespacePattern = '', hostPattern] = parts.toReversed()
  const hosts = hostPattern === undefined ? DEFAULT_HOSTS : [hostPattern]
  return hosts.includes(host) && covers(namespacePattern, namespace) && covers(typePattern, type)
}

const covers = (pattern: string, name: string) => pattern === '*' || pattern === name

export interface ProviderSources {
  /** Patterns such as `hashicorp/*`; empty: every provider. */
  allowed: readonly string[]
  /** Folder with providers in the engine's mirror layout; empty: none. */
  mirror: string
  /** Nothing is downloaded: providers come from the mirror alone. */
  offline: boolean
}

/**
 * The engine's own configuration of where providers may come from; null when nothing is restricted. With it the engine
 * itself refuses other providers during `init` and names them.
 */
export function renderCliConfig({ allowed, mirror, offline }: ProviderSources): string | null {
  if (allowed.length === 0 && mirror === '' && !offline) return null
  const include =
    allowed.length > 0 ? `\n    include = [${allowed.map((pattern) => JSON.stringify(pattern)).join(', ')}]` : ''
  const methods = [
    mirror === '' ? '' : `  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}${include}\n  }\n`,
    offline ? '' : `  direct {${include === '' ? '' : `${include}\n  `}}\n`,
  ]
  return `provider_installation {\n${methods.join('')}}\ndisable_checkpoint = true\n`
}

/** Writes that configuration into the data folder and answers its path; null when nothing is restricted. */
export async function writeCliConfig(dataDir: string, sources: ProviderSources): Promise<string | null> {
  const text = renderCliConfig(sources)
  if (text === null) return null
  const path = join(dataDir, 'engine.tfrc')
  await writeFile(path, text, { mode: 0o600 })
  return path
}
