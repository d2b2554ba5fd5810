import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../shared/settings.ts'
import { listMirror } from './mirror.ts'

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
  /** Providers of the mirror are looked for in the registry as well. */
  mirrorAndRegistry: boolean
  /** Nothing is downloaded: providers come from the mirror alone. */
  offline: boolean
}

/**
 * The engine's own configuration of where providers may come from; null when nothing is restricted. With it the engine
 * itself refuses other providers during `init` and names them.
 * @param mirrored Sources that the registry is not asked for, because the engine asks every method of installation for
 * versions and fails when one does not answer.
 */
export function renderCliConfig(
  { allowed, mirror, offline }: Omit<ProviderSources, 'mirrorAndRegistry'>,
  mirrored: readonly string[] = [],
): string | null {
  if (allowed.length === 0 && mirror === '' && !offline) return null
  const include = listOf('include', allowed)
  const direct = [include, listOf('exclude', mirrored)].join('')
  const methods = [
    mirror === '' ? '' : `  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}${include}\n  }\n`,
    offline ? '' : `  direct {${direct === '' ? '' : `${direct}\n  `}}\n`,
  ]
  return `provider_installation {\n${methods.join('')}}\ndisable_checkpoint = true\n`
}

const listOf = (name: string, patterns: readonly string[]) =>
  patterns.length === 0 ? '' : `\n    ${name} = [${patterns.map((pattern) => JSON.stringify(pattern)).join(', ')}]`

/** That configuration as a file. */
export interface CliConfig {
  path: string
  /** Writes the file anew when the mirror no longer holds what it held. */
  refresh(): Promise<void>
}

/**
 * Writes that configuration into the data folder; null when nothing is restricted. A mirror that cannot be read later
 * leaves the file as it is, and the engine says so.
 * @throws SettingsError when the mirror cannot be read now
 */
export async function openCliConfig(dataDir: string, sources: ProviderSources): Promise<CliConfig | null> {
  const { mirror, mirrorAndRegistry, offline } = sources
  const render = async () => {
    const held = mirror === '' ? [] : await listMirror(mirror)
    return renderCliConfig(sources, mirrorAndRegistry || offline ? [] : held.map(({ source }) => source))
  }
  let written = await render().catch((error: Error) => {
    throw new SettingsError(`IAC_PROVIDER_MIRROR cannot be read: ${error.message}`)
  })
  if (written === null) return null
  const path = join(dataDir, 'engine.tfrc')
  await replaceFile(path, written)
  const refresh = async () => {
    const text = await render().catch(() => written)
    if (text === null || text === written) return
    await replaceFile(path, text)
    written = text
  }
  return { path, refresh }
}

/** Whoever reads the file meanwhile has the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`
  await writeFile(fresh, text, { mode: 0o600 })
  await rename(fresh, path)
}
