import { appendFile, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../src/runtime/files.ts'
import { SettingsError } from '../../shared/settings.ts'
import { PLATFORM } from '../engine/find.ts'
import { readTail } from '../output/files.ts'

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

interface ProviderSources {
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

/** A provider that a mirror holds for this machine. */
interface MirroredProvider {
  /** `host/namespace/type`, in lower case. */
  source: string
  versions: string[]
}

/**
 * Lists the providers of a mirror for this machine. Skips names that are no provider's, because the engine refuses a
 * configuration with one. Only the last folder of a provider may be a link. Errors: those of the file system.
 */
export async function listMirror(mirror: string): Promise<MirroredProvider[]> {
  const providers: MirroredProvider[] = []
  for (const host of await foldersIn(mirror, isHost))
    for (const namespace of await foldersIn(join(mirror, host), isPart))
      for (const type of await foldersIn(join(mirror, host, namespace), isPart)) {
        const versions = await versionsIn(join(mirror, host, namespace, type), type)
        if (versions.length > 0) providers.push({ source: `${host}/${namespace}/${type}`.toLowerCase(), versions })
      }
  return providers
}

async function foldersIn(path: string, isName: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && isName(entry.name))
    .map(({ name }) => name)
    .sort()
}

/** Lists `<version>/<platform>/` (unpacked) and `terraform-provider-<type>_<version>_<platform>.zip`. */
async function versionsIn(path: string, type: string): Promise<string[]> {
  const [before, after] = [`terraform-provider-${type}_`, `_${PLATFORM}.zip`]
  const versions = new Set<string>()
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const { name } = entry
    if (entry.isDirectory() && (await isFolder(join(path, name, PLATFORM)))) versions.add(name)
    else if (entry.isFile() && name.startsWith(before) && name.endsWith(after))
      versions.add(name.slice(before.length, -after.length))
  }
  return [...versions]
}

const isFolder = async (path: string) => (await stat(path).catch(() => null))?.isDirectory() === true

const LABEL = '[a-z0-9]+(?:-[a-z0-9]+)*'
const PART = new RegExp(`^${LABEL}$`, 'i')
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::(\\d{1,5}))?$`, 'i')

const isPart = (name: string) => PART.test(name)
const isHost = (name: string) => Number(HOST.exec(name)?.[1] ?? (HOST.test(name) ? 0 : Infinity)) <= 65_535

/** The error of a missing version. The engine breaks its lines between words. */
const NO_VERSION = /provider\s+(\S+):\s+no\s+available\s+releases\s+match/gi
const LARGEST_STDERR = 100_000

/** Explains in an `init`'s errors that a version was looked up in the mirror alone, which the engine omits. */
export async function explainMissingVersions(
  stderr: string,
  settings: { providerMirror: string; mirrorAndRegistry: boolean; offline: boolean },
): Promise<void> {
  const { providerMirror: mirror, mirrorAndRegistry, offline } = settings
  if (mirror === '' || mirrorAndRegistry) return
  const named = [...(await readTail(stderr, LARGEST_STDERR)).matchAll(NO_VERSION)].map(([, name = '']) =>
    name.toLowerCase(),
  )
  if (named.length === 0) return
  const held = await listMirror(mirror).catch(() => [])
  const found = held.filter(({ source }) => named.some((name) => source === name || source.endsWith(`/${name}`)))
  if (found.length === 0) return
  const registry = offline ? '' : ' or allow the registry as well (IAC_MIRROR_AND_REGISTRY=true)'
  const list = found.map(({ source, versions }) => `${source} ${versions.join(', ')}`).join('; ')
  await appendFile(
    stderr,
    '\nProviders that the mirror of this service holds are taken from it alone. For this machine it holds ' +
      `${list}. Ask for one of these, or have the operator add the version to the mirror ` +
      `(IAC_PROVIDER_MIRROR)${registry}.\n`,
  )
}
