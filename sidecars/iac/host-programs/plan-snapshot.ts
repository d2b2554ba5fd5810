import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { isConfigFile } from './config-files.ts'
import { inMib, LIMITS, TooLarge } from './limits.ts'

const inflate = promisify(inflateRaw)
const END_BYTES = 22
const DEFLATE = 8

export interface SnapshotFile {
  /** The name in the engine's diagnostics, such as `m-/main.tf`. */
  name: string
  /** The folder of the module, relative to the workspace. */
  folder: string
  content: string
}

interface Entry {
  name: string
  method: number
  packed: number
  unpacked: number
  local: number
}

/** Reads the configuration in a plan file (null for none), only its needed parts. Errors: `TooLarge` with `name`. */
export async function readPlanSnapshot(path: string, name: string): Promise<SnapshotFile[] | null> {
  const handle = await open(path).catch(() => null)
  if (!handle) return null
  try {
    const entries = await readDirectory(handle, name)
    const wanted = entries?.filter((entry) => entry.name.startsWith('tfconfig/')) ?? []
    if (wanted.length === 0) return null
    return await readFiles(handle, wanted, name)
  } catch (error) {
    if (error instanceof TooLarge) throw error
    return null
  } finally {
    await handle.close()
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new Error('the archive is damaged')
  return buffer
}

/** Reads the directory at the end of the archive. The engine appends no comment to it. */
async function readDirectory(handle: FileHandle, name: string): Promise<Entry[] | null> {
  const { size } = await handle.stat()
  if (size < END_BYTES) return null
  const end = await readAt(handle, size - END_BYTES, END_BYTES)
  if (end.readUInt32LE(0) !== 0x06054b50) return null
  const length = end.readUInt32LE(12)
  if (length > LIMITS.directoryBytes) throw new TooLarge(name, `${inMib(LIMITS.directoryBytes)} of its list of files`)
  const directory = await readAt(handle, end.readUInt32LE(16), length)
  const entries: Entry[] = []
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw new Error('the archive is damaged')
    const nameLength = directory.readUInt16LE(at + 28)
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameLength),
      method: directory.readUInt16LE(at + 10),
      packed: directory.readUInt32LE(at + 20),
      unpacked: directory.readUInt32LE(at + 24),
      local: directory.readUInt32LE(at + 42),
    })
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return entries
}

async function readFiles(handle: FileHandle, entries: Entry[], plan: string): Promise<SnapshotFile[]> {
  const manifest = entries.find((entry) => entry.name === 'tfconfig/modules.json')
  const folders = moduleFolders(manifest ? (await unpack(handle, manifest, plan)).toString('utf8') : '[]')
  const sources = entries.filter(
    ({ name }) => name.startsWith('tfconfig/m-') && isConfigFile(name.slice(name.lastIndexOf('/') + 1)),
  )
  if (sources.length > LIMITS.files) throw new TooLarge(plan, `${LIMITS.files} files of configuration`)
  const files: SnapshotFile[] = []
  let total = 0
  for (const entry of sources) {
    const content = await unpack(handle, entry, plan)
    total += content.length
    if (total > LIMITS.totalBytes) throw new TooLarge(plan, `${inMib(LIMITS.totalBytes)} of configuration in all`)
    const name = entry.name.slice('tfconfig/'.length)
    const module = name.slice('m-'.length, name.lastIndexOf('/'))
    files.push({ name, folder: folders.get(module) ?? '.', content: content.toString('utf8') })
  }
  return files
}

async function unpack(handle: FileHandle, entry: Entry, plan: string): Promise<Buffer> {
  const limit = `${inMib(LIMITS.fileBytes)} of one file of its configuration`
  if (entry.packed > LIMITS.fileBytes || entry.unpacked > LIMITS.fileBytes) throw new TooLarge(plan, limit)
  const head = await readAt(handle, entry.local, 30)
  const start = entry.local + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
  const data = await readAt(handle, start, entry.packed)
  return entry.method === DEFLATE ? inflate(data, { maxOutputLength: LIMITS.fileBytes }) : data
}

function moduleFolders(manifest: string): Map<string, string> {
  const modules: unknown = JSON.parse(manifest)
  if (!Array.isArray(modules)) return new Map()
  return new Map(
    modules.flatMap(({ Key, Dir }) =>
      typeof Key === 'string' && typeof Dir === 'string' ? [[Key, Dir] as const] : [],
    ),
  )
}
