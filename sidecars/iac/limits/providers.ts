import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../src/runtime/files.ts'
import { SettingsError } from '../../shared/settings.ts'
import { listMirror } from './mirror.ts'

/** A pattern in the engine's syntax: `[host/]namespace/type`, where namespace and type may be `*`. */
export const PROVIDER_PATTERN = /^(?:[a-z0-9.-]+\.[a-z0-9.:-]+\/)?(?:[a-z0-9_-]+|\*)\/(?:[a-z0-9_-]+|\*)$/i

/** Lists providers in the lock file that no pattern allows: the engine checks patterns only when it installs. */
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

/** Limit of a lock file, which has some hundred bytes per provider. */
const MAX_LOCK_BYTES = 1024 * 1024
/** Any quoted text that could be an address, because comments may stand between the words of a block. */
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
  /** Patterns such as `hashicorp/*`; empty allows every provider. */
  allowed: readonly string[]
  /** Folder with providers in the engine's mirror layout; empty for none. */
  mirror: string
  /** True if providers of the mirror are also looked up in the registry. */
  mirrorAndRegistry: boolean
  /** True if nothing is downloaded: providers come from the mirror alone. */
  offline: boolean
}

/**
 * Renders the configuration with which `init` itself refuses other providers; null without restrictions.
 * @param mirrored sources excluded from the registry, because the engine fails if one installation method is silent
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

export interface CliConfig {
  path: string
  /** Rewrites the file when the content of the mirror has changed. */
  refresh(): Promise<void>
}

/** Writes that configuration; null without restrictions. Errors: `SettingsError` for an unreadable mirror. */
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
