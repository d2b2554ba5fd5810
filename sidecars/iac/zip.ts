import { inflateRawSync } from 'node:zlib'

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const DEFLATE = 8

/** Unpacks the `wanted` files of a zip archive in memory; null for no archive, or with a file beyond `maxBytes`. */
export function unzip(
  archive: Buffer,
  wanted: (name: string) => boolean,
  maxBytes: number,
): Map<string, Buffer> | null {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end < 0 || end + 22 > archive.length || archive.readUInt32LE(end) !== END) return null
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  try {
    for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
      if (archive.readUInt32LE(at) !== CENTRAL) return null
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
  if (archive.readUInt32LE(local) !== LOCAL) throw new Error('the archive is damaged')
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const data = archive.subarray(start, start + packed)
  if (method === 0) return data
  if (method === DEFLATE) return inflateRawSync(data, { maxOutputLength: maxBytes })
  throw new Error(`compression method ${method} is not supported`)
}
