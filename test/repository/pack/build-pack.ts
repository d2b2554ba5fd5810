import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** A pack entry. A delta names its base by the index of an earlier entry, or by a hash. */
export interface PackEntry {
  type: 'commit' | 'tree' | 'blob' | 'tag'
  contents: Buffer
}
export interface DeltaEntry {
  base: number | string
  delta: Buffer
}
export interface BuildOptions {
  /** Declares a size in the header of an entry, instead of the true one. */
  declared?: (index: number, size: number) => number
  /** The number of objects in the header, instead of the true one. */
  count?: number
  compress?: (contents: Buffer) => Buffer
}

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const

/** Writes a pack with true checksums, however invalid its entries are. */
export function buildPack(entries: readonly (PackEntry | DeltaEntry)[], options: BuildOptions = {}): Buffer {
  const {
    declared = (_, size) => size,
    count = entries.length,
    compress = (contents) => deflateSync(contents),
  } = options
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(count, 8)
  const parts: Buffer[] = [head]
  const offsets: number[] = []
  let offset = head.length
  for (const [index, entry] of entries.entries()) {
    const contents = 'delta' in entry ? entry.delta : entry.contents
    const size = declared(index, contents.length)
    const part = Buffer.concat([...entryHead(entry, size, offset, offsets), compress(contents)])
    offsets.push(offset)
    parts.push(part)
    offset += part.length
  }
  const body = Buffer.concat(parts)
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function entryHead(entry: PackEntry | DeltaEntry, size: number, offset: number, offsets: number[]): Buffer[] {
  if (!('delta' in entry)) return [typeAndSize(TYPES[entry.type], size)]
  if (typeof entry.base === 'string') return [typeAndSize(7, size), Buffer.from(entry.base, 'hex')]
  return [typeAndSize(6, size), distance(offset - (offsets[entry.base] ?? 0))]
}

function typeAndSize(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size % 16)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest % 128)
  }
  return Buffer.from(bytes)
}

function distance(value: number): Buffer {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest = (rest - 1) >>> 7) bytes.unshift(0x80 | ((rest - 1) & 0x7f))
  return Buffer.from(bytes)
}

/** Encodes a size as in a delta: seven bits a byte, the low ones first. */
function sizeOf(size: number): number[] {
  const bytes: number[] = []
  let rest = size
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return [...bytes, rest]
}

/** Makes a delta that copies the whole base (shorter than 16 MiB) this many times and then adds the text. */
export function doublingDelta(baseSize: number, copies: number, added = ''): Buffer {
  const copy = [0xf0, baseSize & 0xff, (baseSize >> 8) & 0xff, (baseSize >> 16) & 0xff]
  const insert = added === '' ? [] : [added.length, ...Buffer.from(added)]
  const result = baseSize * copies + added.length
  return Buffer.from([...sizeOf(baseSize), ...sizeOf(result), ...Array<number[]>(copies).fill(copy).flat(), ...insert])
}

/** Returns the name of an object in git. */
export const hashOf = (type: string, contents: Buffer): string =>
  createHash('sha1').update(`${type} ${contents.length}\0`).update(contents).digest('hex')

export const commitOf = (tree: string): Buffer =>
  Buffer.from(`tree ${tree}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\nx\n`)

/** Makes a tree of `[name, hash]` pairs. A name that ends with a slash is a directory. */
export const treeOf = (entries: readonly (readonly [name: string, hash: string])[]): Buffer =>
  Buffer.concat(
    entries.map(([name, hash]) =>
      Buffer.concat([
        Buffer.from(name.endsWith('/') ? `40000 ${name.slice(0, -1)}\0` : `100644 ${name}\0`),
        Buffer.from(hash, 'hex'),
      ]),
    ),
  )
