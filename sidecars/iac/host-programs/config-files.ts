import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { type Finding, inMib, LIMITS, TooLarge } from './findings.ts'

export interface ConfigFile {
  /** Relative to the workspace. */
  name: string
  path: string
  isTest: boolean
}

const CONFIG_FILE = /\.(?:tf|tofu)(?:\.json)?$/
const TEST_FILE = /\.(?:tftest|tofutest)\.(?:hcl|json)$/
/** Names that the engine skips: hidden files and those of editors, such as `main.tf~`. */
const IGNORED = /^\.|~$|^#.*#$/

const isConfigFile = (name: string): boolean => CONFIG_FILE.test(name) && !IGNORED.test(name)

/** Lists the configuration files by name. `findings`: entries that the engine reads but that cannot be checked. */
export async function listConfigFiles(
  folder: string,
  options: { workspace: string; boundary: string; tests: boolean },
): Promise<{ files: ConfigFile[]; findings: Finding[] }> {
  const names = await readdir(folder, { encoding: 'buffer' }).catch(() => [])
  const files: ConfigFile[] = []
  const findings: Finding[] = []
  for (const bytes of names.sort(Buffer.compare)) {
    const name = bytes.toString('utf8')
    const isTest = options.tests && TEST_FILE.test(name) && !IGNORED.test(name)
    if (!isTest && !isConfigFile(name)) continue
    const path = join(folder, name)
    const file = relative(options.workspace, path)
    if (!isUtf8(bytes)) {
      const reach = 'the name is not UTF-8, so the file cannot be read for the check, while the engine reads it'
      findings.push({ file, line: 0, construct: 'a configuration file', reach })
      continue
    }
    const reach = await entryReach(path, options.boundary)
    if (reach === 'folder') continue
    if (reach === null) files.push({ name: file, path, isTest })
    else findings.push({ file, line: 0, construct: 'a configuration file', reach })
  }
  return { files, findings }
}

/** Returns the reason why an entry cannot be read for the check; null for one that can. */
async function entryReach(path: string, boundary: string): Promise<string | 'folder' | null> {
  const entry = await lstat(path).catch(() => null)
  if (entry?.isSymbolicLink()) {
    const target = await realpath(path).catch(() => null)
    if (target === null) return 'it is a link that leads nowhere'
    if (!isWithin(boundary, target)) return 'it is a link that leads out of the repository'
    return entryReach(target, boundary)
  }
  if (entry?.isDirectory()) return 'folder'
  return entry === null || entry.isFile() ? null : 'it is no regular file'
}

/** Reports whether a path is a folder or lies below it. Both are absolute. */
export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Reads at most `maxBytes` of text; null when it is no regular file. Errors: `TooLarge`. */
export async function readLimited(path: string, name: string, maxBytes: number, limit: string): Promise<string | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (!handle) return null
  try {
    const entry = await handle.stat()
    if (!entry.isFile()) return null
    const { size } = entry
    if (size > maxBytes) throw new TooLarge(name, limit)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

const END_BYTES = 22

export interface SnapshotFile {
  /** Relative to the workspace. */
  name: string
  /** The names of the modules on the way to its own, such as `net.sub`; empty for the root. */
  module: string
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

/** Reads the engine's own record of the planned changes; null when there is not exactly one that can be read. */
export async function readPlannedChanges(path: string): Promise<Buffer | null> {
  const handle = await open(path).catch(() => null)
  try {
    const entries = handle === null ? null : await readDirectory(handle, path)
    const [entry, ...others] = entries?.filter(({ name }) => name === 'tfplan') ?? []
    return handle !== null && entry && others.length === 0 ? await unpack(handle, entry, path, LIMITS.totalBytes) : null
  } catch {
    return null
  } finally {
    await handle?.close()
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
    const [module = '', base = ''] = entry.name.slice('tfconfig/m-'.length).split('/')
    const folder = folders.get(module) ?? '.'
    files.push({ name: join(folder, base), module, folder, content: content.toString('utf8') })
  }
  return files
}

async function unpack(handle: FileHandle, entry: Entry, plan: string, maxBytes = LIMITS.fileBytes): Promise<Buffer> {
  const limit = `${inMib(maxBytes)} of one file of its configuration`
  if (entry.packed > maxBytes || entry.unpacked > maxBytes) throw new TooLarge(plan, limit)
  const head = await readAt(handle, entry.local, 30)
  const start = entry.local + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
  const data = await readAt(handle, start, entry.packed)
  return entry.method === 8 ? promisify(inflateRaw)(data, { maxOutputLength: maxBytes }) : data
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
