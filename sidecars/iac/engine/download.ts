import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { type Fetch, send } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'
import { replaceFile } from '../../../src/runtime/files.ts'
import { reasonOf, SettingsError } from '../../shared/settings.ts'

/** The release that `IAC_DOWNLOAD=true` fetches. A new version needs the checksums of its SHA256SUMS. */
export const PINNED_OPENTOFU: { version: string; checksums: Record<string, string> } = {
  version: '1.12.6',
  /** SHA-256 of the zip archive by `<os>_<architecture>`. */
  checksums: {
    linux_amd64: '5dc43da4f750f33873dc25e94587128709e819e544b7be9016b255316153c3a8',
    linux_arm64: 'e573979ba68a17fe7b881752051a694a7efcd970e39521f6a25775197861ed4d',
  },
}
const MAX_ARCHIVE = 256 * 1024 * 1024
const MAX_BINARY = 512 * 1024 * 1024

interface EngineDownload {
  folder: string
  /** Base URL of a mirror with the layout of the project's releases; empty for the project's own. */
  baseUrl: string
  /** `<os>_<architecture>`, for example `linux_amd64`. */
  target: string
  fetch: Fetch
  log: Logger
  release?: typeof PINNED_OPENTOFU
}

/**
 * Installs the pinned engine in `folder` and returns its path. Each start verifies the archive against the pinned
 * checksum and the binary against the archive, so that no writer to the folder can replace the program. Errors:
 * `SettingsError`.
 */
export async function downloadEngine(options: EngineDownload): Promise<string> {
  const { folder, log } = options
  const { version, checksums } = options.release ?? PINNED_OPENTOFU
  const expected = checksums[options.target]
  if (!expected)
    throw new SettingsError(
      `No OpenTofu release is pinned for ${options.target}; install an engine and set IAC_BINARY.`,
    )
  const name = `tofu_${version}_${options.target}.zip`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const kept = join(folder, name)
  let archive = await readOwnFile(kept, MAX_ARCHIVE)
  if (archive === null || sha256(archive) !== expected) {
    if (archive !== null) log.warn('the archive of the engine is not the pinned one; it is fetched again')
    archive = await fetchArchive(options, { version, name, expected })
    await install(kept, archive, 0o600)
  }
  const program = unzip(archive, (file) => file === 'tofu', MAX_BINARY)?.get('tofu')
  if (!program) throw new SettingsError(`${name} holds no tofu binary.`)
  const binary = join(folder, `tofu-${version}`)
  const present = await readOwnFile(binary, MAX_BINARY)
  if (present?.equals(program)) return binary
  if (present !== null) log.warn('the engine on the disk is not that of its archive; it is unpacked again')
  await install(binary, program, 0o755)
  return binary
}

async function fetchArchive(
  options: EngineDownload,
  { version, name, expected }: { version: string; name: string; expected: string },
): Promise<Buffer> {
  const releases = options.baseUrl.replace(/\/+$/, '') || 'https://github.com/opentofu/opentofu/releases/download'
  const base = `${releases}/v${version}`
  const get = (file: string, maxBytes: number) => fetchFile(options.fetch, `${base}/${file}`, maxBytes)
  options.log.info('fetching the engine', { url: `${base}/${name}` })
  const sums = new TextDecoder().decode(await get(`tofu_${version}_SHA256SUMS`, 1024 * 1024))
  const listed = sums.split('\n').some((line) => line.trim().replace(/\s+\*?/, ' ') === `${expected} ${name}`)
  if (!listed)
    throw new SettingsError(`The release's SHA256SUMS does not list ${name} with the pinned checksum ${expected}.`)
  const archive = Buffer.from(await get(name, MAX_ARCHIVE))
  const actual = sha256(archive)
  if (actual !== expected) throw new SettingsError(`${name} has checksum ${actual} instead of ${expected}.`)
  return archive
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Reads a regular file that only this user can change; null if missing, empty if of another kind or too large. */
async function readOwnFile(path: string, maxBytes: number): Promise<Buffer | null> {
  const found = await lstat(path).catch(() => null)
  if (found === null) return null
  const isOwn = process.getuid === undefined || found.uid === process.getuid()
  const isAlone = found.isFile() && found.nlink === 1 && (found.mode & 0o022) === 0
  if (!isOwn || !isAlone || found.size > maxBytes) return Buffer.alloc(0)
  return readFile(path).catch(() => Buffer.alloc(0))
}

async function install(path: string, content: Uint8Array, mode: number): Promise<void> {
  await replaceFile(path, content, mode).catch((error: NodeJS.ErrnoException) => {
    throw new SettingsError(`The engine could not be written to the data folder (${error.code ?? 'unknown error'}).`)
  })
}

async function fetchFile(fetch: Fetch, url: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const response = await send(fetch, { url, timeoutMs: 300_000, retries: 2, redirect: 'follow', maxBytes })
    if (response.status !== 200)
      throw new SettingsError(`The engine could not be fetched: ${url} answered ${response.status}.`)
    return response.body
  } catch (error) {
    if (error instanceof SettingsError) throw error
    throw new SettingsError(`The engine could not be fetched from ${url}: ${reasonOf(error)}.`)
  }
}

/** Unpacks the `wanted` files of a zip archive in memory; null for no archive, or with a file beyond `maxBytes`. */
export function unzip(
  archive: Buffer,
  wanted: (name: string) => boolean,
  maxBytes: number,
): Map<string, Buffer> | null {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end < 0 || end + 22 > archive.length) return null
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  try {
    for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
      if (archive.readUInt32LE(at) !== 0x02014b50) return null
      const lengths = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset))
      const [nameLength = 0, extraLength = 0, commentLength = 0] = lengths
      const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
      if (wanted(name)) files.set(name, unpack(archive, at, maxBytes))
      at += 46 + nameLength + extraLength + commentLength
    }
  } catch {
    return null
  }
  return files
}

function unpack(archive: Buffer, entry: number, maxBytes: number): Buffer {
  const method = archive.readUInt16LE(entry + 10)
  const packed = archive.readUInt32LE(entry + 20)
  const local = archive.readUInt32LE(entry + 42)
  if (archive.readUInt32LE(local) !== 0x04034b50) throw new Error('the archive is damaged')
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const data = archive.subarray(start, start + packed)
  if (method === 0) return data
  if (method === 8) return inflateRawSync(data, { maxOutputLength: maxBytes })
  throw new Error(`compression method ${method} is not supported`)
}
