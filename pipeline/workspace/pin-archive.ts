import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { create, extract, type ReadEntry } from 'tar'
import type { Config } from '../../config/types.ts'
import type { SessionFacts } from '../../src/sessions/types.ts'
import { isInside } from './locate-root.ts'
import { pinDirectory } from './pin.ts'
import { inspectPinned, type PinnedDirectory } from './pinned.ts'

/** What an unpacked directory may hold, so that a small archive cannot fill a disk. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024
const MAX_ENTRIES = 500_000

/**
 * A directory as a gzipped tar file: without git's own files, the engine's plugins, and what holds
 * credentials of the state store; all of these are made anew where it is unpacked.
 * @returns null when it would be longer than `max_bytes`
 */
export async function packDirectory(
  clone: string,
  paths: Config['paths'],
  max_bytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  const filter = (path: string) => !isLeftOut(path, paths)
  const archive = create({ cwd: clone, gzip: true, portable: true, filter }, ['.'])
  for await (const chunk of archive) {
    size += chunk.byteLength
    if (size > max_bytes) return null
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

export interface Restored {
  directory: PinnedDirectory
  /** Makes it the pinned directory of its session and answers where it is then. */
  pin(): Promise<PinnedDirectory>
  remove(): Promise<void>
}

/**
 * Unpacks an archive into a call directory of its own.
 * Errors: those of the disk; whatever an archive of ours cannot hold (paths and links that lead out, devices,
 * another plan file) is an error too, and nothing is left of it then.
 */
export async function unpackDirectory(
  archive: Uint8Array,
  paths: Config['paths'],
  session: Pick<SessionFacts, 'uuid' | 'workspace'>,
  options: { plan_sha256: string },
): Promise<Restored> {
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
        const pinned = join(folder, 'pinned')
        return { clone: pinned, iac_root: join(await realpath(pinned), relative(directory.clone, directory.iac_root)) }
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function unpack(archive: Uint8Array, clone: string): Promise<void> {
  let refused: string | null = null
  let size = 0
  let entries = 0
  const links: string[] = []
  const filter = (path: string, entry: ReadEntry | { size: number }) => {
    size += entry.size
    entries++
    const type = 'type' in entry ? entry.type : ''
    const is_link = type === 'SymbolicLink'
    const is_known = is_link || type === 'File' || type === 'OldFile' || type === 'Directory'
    const leads_out = path.startsWith('/') || path.split('/').includes('..')
    if (!is_known || leads_out || size > MAX_UNPACKED || entries > MAX_ENTRIES) refused ??= path
    if (is_link) links.push(path)
    return refused === null
  }
  await pipeline([archive], extract({ cwd: clone, strict: true, preserveOwner: false, filter }))
  if (refused !== null) throw new Error(`the archive holds an entry that no pinned directory has: ${refused}`)
  const root = await realpath(clone)
  for (const link of links) await refuseEscape(root, join(root, link))
}

/** A link is judged by where it ends; one that ends nowhere by what it says. */
async function refuseEscape(root: string, path: string): Promise<void> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isSymbolicLink()) return
  const target = await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)))
  if (!isInside(root, target)) throw new Error('the archive holds a link that leads out of it')
}
