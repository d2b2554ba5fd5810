import { randomUUID } from 'node:crypto'
import { mkdir, realpath, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { create, extract, type ReadEntry } from 'tar'
import type { Config } from '../../../config/types.ts'
import type { SessionFacts } from '../../../src/sessions/types.ts'
import { isInside, resolveLink } from '../files/confine.ts'
import { PINNED, pinDirectory } from './pin.ts'
import { inspectPinned, type PinnedDirectory } from './pinned.ts'

/** Limits of an unpacked directory in bytes and entries, so that a small archive cannot fill the disk. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024
const MAX_ENTRIES = 500_000

/**
 * Packs a directory into a gzipped tar file. Git's own files, the plugins of the engine, and files with credentials
 * of the state store are left out; whoever unpacks the archive makes them again.
 * @returns null when the archive would be longer than `maxBytes`
 */
export async function packDirectory(
  clone: string,
  paths: Config['paths'],
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  const filter = (path: string) => !isLeftOut(path, paths)
  const archive = create({ cwd: clone, gzip: true, portable: true, filter }, ['.'])
  for await (const chunk of archive) {
    size += chunk.byteLength
    if (size > maxBytes) return null
    chunks.push(chunk)
  }
  const all = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.byteLength
  }
  return all
}

function isLeftOut(path: string, paths: Config['paths']): boolean {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments.some((segment, index) => {
    const name = segment.toLowerCase()
    if (name === '.git' || name === paths.backend_override_filename.toLowerCase()) return true
    return segments[index - 1] === '.terraform' && (name === 'providers' || name.startsWith('terraform.tfstate'))
  })
}

export interface UnpackedDirectory {
  directory: PinnedDirectory
  /** Makes the directory the pinned one of its session. Answers it with its new path. */
  pin(): Promise<PinnedDirectory>
  remove(): Promise<void>
}

/**
 * Unpacks an archive into a new directory of the session.
 * Errors: those of the disk; a plain one when the archive holds what `packDirectory` never packs, for example a path
 * or a link that leads out of it, a device, or another plan file. Nothing is left on the disk then.
 */
export async function unpackDirectory(
  archive: Uint8Array,
  paths: Config['paths'],
  session: Pick<SessionFacts, 'uuid' | 'workspace'>,
  options: { plan_sha256: string },
): Promise<UnpackedDirectory> {
  const folder = resolve(paths.upload_folder, session.uuid)
  const clone = join(folder, randomUUID())
  const remove = () => rm(clone, { recursive: true, force: true })
  await mkdir(clone, { recursive: true, mode: 0o700 })
  try {
    await unpack(archive, clone)
    const directory = await inspectPinned(clone, paths, session, options.plan_sha256)
    if (typeof directory === 'string') throw new Error(`the plan file of the archive is ${directory}`)
    return {
      directory,
      remove,
      pin: async () => {
        await pinDirectory(clone)
        const pinned = join(folder, PINNED)
        return { clone: pinned, iacRoot: join(await realpath(pinned), relative(directory.clone, directory.iacRoot)) }
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function unpack(archive: Uint8Array, clone: string): Promise<void> {
  let refusedPath: string | null = null
  let size = 0
  let entries = 0
  const links: string[] = []
  const filter = (path: string, entry: ReadEntry | { size: number }) => {
    size += entry.size
    entries++
    const type = 'type' in entry ? entry.type : ''
    const isLink = type === 'SymbolicLink'
    const isKnown = isLink || type === 'File' || type === 'OldFile' || type === 'Directory'
    const leadsOut = path.startsWith('/') || path.split('/').includes('..')
    if (!isKnown || leadsOut || size > MAX_UNPACKED || entries > MAX_ENTRIES) refusedPath ??= path
    if (isLink) links.push(path)
    return refusedPath === null
  }
  await pipeline([archive], extract({ cwd: clone, strict: true, preserveOwner: false, filter }))
  if (refusedPath !== null) throw new Error(`the archive holds an entry that no pinned directory has: ${refusedPath}`)
  const root = await realpath(clone)
  for (const link of links) await assertStaysInside(root, join(root, link))
}

async function assertStaysInside(root: string, path: string): Promise<void> {
  const target = await resolveLink(path)
  if (target !== null && !isInside(root, target)) throw new Error('the archive holds a link that leads out of it')
}
