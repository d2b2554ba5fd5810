import { appendFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PLATFORM } from '../engine/find.ts'
import { readTail } from '../output/files.ts'

/** A provider that a mirror holds for this machine. */
export interface MirroredProvider {
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

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

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
