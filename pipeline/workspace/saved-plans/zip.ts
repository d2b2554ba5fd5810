import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { type EngineState, parseState } from '../../../src/plan/state/state.ts'

const END_SIGNATURE = Buffer.from('PK\x05\x06')
const CENTRAL_SIGNATURE = 0x02014b50
const LOCAL_SIGNATURE = 0x04034b50
const END_SIZE = 22
const MAX_COMMENT = 65_535
const MAX_DIRECTORY = 16 * 1024 * 1024
const STORED = 0
const DEFLATED = 8

/** Maximum bytes of the state in a plan file. */
const MAX_STATE_BYTES = 64 * 1024 * 1024

/** Reads the state that a plan was made from; null when the plan file holds none. */
export async function readPriorState(planFile: string): Promise<EngineState | null> {
  const text = await readZipEntry(planFile, 'tfstate', MAX_STATE_BYTES)
  return text === null ? null : parseState(text)
}

/** Reads one deflated entry of at most `maxBytes` from a zip archive as text; null for anything else. */
export async function readZipEntry(path: string, name: string, maxBytes: number): Promise<string | null> {
  const handle = await open(path).catch(() => null)
  if (!handle) return null
  try {
    const entry = await findEntry(handle, name)
    if (!entry || entry.size > maxBytes) return null
    const header = await readBytes(handle, entry.offset, 30)
    if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) return null
    const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    const data = await readBytes(handle, start, entry.size)
    if (entry.method === STORED) return data.toString('utf8')
    if (entry.method !== DEFLATED) return null
    return (await promisify(inflateRaw)(data, { maxOutputLength: maxBytes })).toString('utf8')
  } catch {
    // The archive is damaged, or the entry unpacks to more than `maxBytes`.
    return null
  } finally {
    await handle.close()
  }
}

/** Returns null when the archive has no entry with this name. */
async function findEntry(handle: FileHandle, name: string) {
  const { size } = await handle.stat()
  const length = Math.min(size, END_SIZE + MAX_COMMENT)
  const tail = await readBytes(handle, size - length, length)
  const end = tail.lastIndexOf(END_SIGNATURE)
  if (end < 0) return null
  const directorySize = tail.readUInt32LE(end + 12)
  if (directorySize > MAX_DIRECTORY) return null
  const directory = await readBytes(handle, tail.readUInt32LE(end + 16), directorySize)
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL_SIGNATURE; ) {
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

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await handle.read(buffer, 0, length, position)
  if (bytesRead < length) throw new Error('the archive ends early')
  return buffer
}
