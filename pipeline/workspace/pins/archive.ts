import { randomUUID } from 'node:crypto'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { create, extract, type ReadEntry } from 'tar'
import type { Config } from '../../../config/types.ts'
import type { SessionFacts } from '../../../src/sessions/types.ts'
import { isInside } from '../files/confine.ts'
import { pinDirectory } from './pin.ts'
import { inspectPinned, type PinnedDirectory } from './pinned.ts'

/** What an unpacked directory may hold, so that a small archive cannot fill a disk. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024
const MAX_ENTRIES = 500_000

/**
 * A directory as a gzipped tar file: without git's own files, the engine's plugins, and what holds
 * credentials of the state store; all of these are made anew where it is unpacked.
 * @returns null when it would be longer than `maxBytes`
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
    const isLink = type === 'SymbolicLink'
    const isKnown = isLink || type === 'File' || type === 'OldFile' || type === 'Directory'
    const leadsOut = path.startsWith('/') || path.split('/').includes('..')
    if (!isKnown || leadsOut || size > MAX_UNPACKED || entries > MAX_ENTRIES) refused ??= path
    if (isLink) links.push(path)
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

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const END_SIZE = 22
const MAX_COMMENT = 65_535
const MAX_DIRECTORY = 16 * 1024 * 1024
const STORED = 0
const DEFLATED = 8

interface Entry {
  method: number
  size: number
  offset: number
}

/**
 * One entry of a zip archive as text, without reading the rest; null when the file is no archive that we can
 * read, has no such entry, or when the entry is larger than `maxBytes`.
 */
export async function readZipEntry(path: string, name: string, maxBytes: number): Promise<string | null> {
  const handle = await open(path).catch(() => null)
  if (!handle) return null
  try {
    const entry = await findEntry(handle, name)
    if (!entry || entry.size > maxBytes) return null
    const header = await read(handle, entry.offset, 30)
    if (header.readUInt32LE(0) !== LOCAL) return null
    const data = await read(handle, entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), entry.size)
    if (entry.method === STORED) return data.toString('utf8')
    if (entry.method !== DEFLATED) return null
    return (await promisify(inflateRaw)(data, { maxOutputLength: maxBytes })).toString('utf8')
  } catch {
    // A broken archive, or one that unpacks to more than it may.
    return null
  } finally {
    await handle.close()
  }
}

async function findEntry(handle: FileHandle, name: string): Promise<Entry | null> {
  const { size } = await handle.stat()
  const length = Math.min(size, END_SIZE + MAX_COMMENT)
  const tail = await read(handle, size - length, length)
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || tail.readUInt32LE(end) !== END) return null
  const directorySize = tail.readUInt32LE(end + 12)
  if (directorySize > MAX_DIRECTORY) return null
  const directory = await read(handle, tail.readUInt32LE(end + 16), directorySize)
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL; ) {
    const nameLength = directory.readUInt16LE(at + 28)
    const entryName = directory.toString('utf8', at + 46, at + 46 + nameLength)
    if (entryName === name)
      return {
        method: directory.readUInt16LE(at + 10),
        size: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      }
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return null
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await handle.read(buffer, 0, length, position)
  if (bytesRead < length) throw new Error('the archive ends early')
  return buffer
}
