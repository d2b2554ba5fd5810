import { toHex } from '../../base/bytes.ts'
import type { Slices } from '../../base/slices.ts'
import { createInflater } from './inflate.ts'

/** Commits, trees and small file contents of a pack by hexadecimal hash. */
export type PackObjects = ReadonlyMap<string, PackObject>
interface PackObject {
  kind: 'commit' | 'tree' | 'blob'
  contents: Uint8Array<ArrayBuffer>
}

const HEADER_BYTES = 12
const HASH_BYTES = 20
const KINDS: Record<number, PackObject['kind']> = { 1: 'commit', 2: 'tree' }
const [COMMIT, TREE, BLOB, TAG, OFFSET_DELTA, REFERENCE_DELTA] = [1, 2, 3, 4, 6, 7] as const

/** A delta whose base is unknown so far. */
interface Waiting {
  offset: number
  delta: Uint8Array<ArrayBuffer>
}
/** Base of a delta: the offset of another entry, or a hash. */
type BaseName = number | string

/** Limits of a pack, checked before memory is allocated; fetches with `filter=blob:none` stay far below them. */
export const PACK_LIMITS = {
  /** Objects of all kinds. */
  objects: 300_000,
  /** Inflated bytes of one commit, tree or delta. */
  objectBytes: 16 * 1024 * 1024,
  /** Inflated bytes of one file's contents; larger ones are left out, which is no error. 0 leaves out all. */
  fileBytes: 0,
  /** Inflated bytes of all that is not left out. */
  keptBytes: 64 * 1024 * 1024,
  /** Memory of the pack and of all that is kept of it, of which one call of the API takes 200 MB at most. */
  memoryBytes: 150_000_000,
  /** Declared bytes of all objects together, including skipped file contents. */
  declaredBytes: 2 * 1024 * 1024 * 1024,
}
type PackLimits = typeof PACK_LIMITS

/** Memory of a kept object besides its contents: its hash, its places in the maps, the view of its contents. */
const OBJECT_BYTES = 400
/** A pack is there twice while the pieces that arrived are joined, of which the process gives back one only later. */
const PACK_COPIES = 2

/** Progress of reading a pack. */
interface Reading {
  limits: PackLimits
  slices: Slices
  byHash: Map<string, PackObject>
  byOffset: Map<number, PackObject>
  waiting: Map<BaseName, Waiting[]>
  /** Offsets of waiting deltas. */
  undecided: Set<number>
  keptBytes: number
  memoryBytes: number
  declaredBytes: number
  inflate: ReturnType<typeof createInflater>
  allocate: ReturnType<typeof createAllocator>
  hash: ReturnType<typeof createHasher>
}

/**
 * Reads the commits and trees of a pack (gitformat-pack, version 2 and 3), and file contents up to `limits.fileBytes`.
 * The event loop runs between slices of the work. Errors: plain ones for a damaged pack and for one beyond the limits; the reason of the
 * signal of the slices.
 */
export async function readPack(
  pack: Uint8Array,
  slices: Slices,
  limits: PackLimits = PACK_LIMITS,
): Promise<PackObjects> {
  const count = readHeader(pack)
  if (count > limits.objects) throw new Error(`the pack says that it holds more than ${limits.objects} objects`)
  const reading: Reading = {
    limits,
    slices,
    byHash: new Map(),
    byOffset: new Map(),
    waiting: new Map(),
    undecided: new Set(),
    keptBytes: 0,
    memoryBytes: PACK_COPIES * pack.length,
    declaredBytes: 0,
    inflate: createInflater(),
    allocate: createAllocator(),
    hash: createHasher(),
  }
  let offset = HEADER_BYTES
  for (let index = 0; index < count; index++) {
    offset = await readEntry(reading, pack, offset)
    if (slices.due()) await slices.pause()
  }
  return reading.byHash
}

function readHeader(pack: Uint8Array): number {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength)
  if (pack.length < HEADER_BYTES + HASH_BYTES || view.getUint32(0) !== 0x5041434b)
    throw new Error('the answer holds no pack')
  if (view.getUint32(4) !== 2 && view.getUint32(4) !== 3) throw new Error('the pack is of an unknown version')
  return view.getUint32(8)
}

/** Reads an entry and returns the position of the next one. */
async function readEntry(reading: Reading, pack: Uint8Array, offset: number): Promise<number> {
  const { type, size, next } = readEntryHeader(pack, offset)
  const { limits, slices } = reading
  reading.declaredBytes += size
  if (reading.declaredBytes > limits.declaredBytes)
    throw new Error(`the objects of the pack are larger than ${limits.declaredBytes} bytes`)
  const base = readBase(type, pack, offset, next)
  const isSmall = limits.fileBytes > 0 && size <= limits.fileBytes
  const wanted = base ? isWanted(reading, base.name) : type === COMMIT || type === TREE || (type === BLOB && isSmall)
  if (wanted) keep(reading, size)
  const start = base?.next ?? next
  const contents = wanted ? reading.allocate(size) : null
  const range = { start, end: pack.length - HASH_BYTES }
  const end = await reading.inflate(pack, range, { size, target: contents, slices })
  if (contents === null) return end
  if (base) await acceptDelta(reading, { offset, delta: contents }, base.name)
  else await acceptWhole(reading, offset, { kind: KINDS[type] ?? 'blob', contents })
  return end
}

function readEntryHeader(pack: Uint8Array, offset: number): { type: number; size: number; next: number } {
  let byte = byteAt(pack, offset)
  const type = (byte >> 4) & 7
  let [size, factor, next] = [byte & 15, 16, offset + 1]
  while ((byte & 0x80) !== 0) {
    if (next > offset + 7) throw new Error('the pack holds an object of an impossible size')
    byte = byteAt(pack, next++)
    size += (byte & 0x7f) * factor
    factor *= 128
  }
  const known = type === COMMIT || type === TREE || type === BLOB || type === TAG
  if (!known && type !== OFFSET_DELTA && type !== REFERENCE_DELTA)
    throw new Error('the pack holds an object of an unknown type')
  return { type, size, next }
}

function byteAt(pack: Uint8Array, offset: number): number {
  const byte = offset < pack.length - HASH_BYTES ? pack[offset] : undefined
  if (byte === undefined) throw new Error('the pack is cut')
  return byte
}

/** Reads the name of a delta's base; null for a whole entry. */
function readBase(type: number, pack: Uint8Array, offset: number, start: number) {
  if (type === REFERENCE_DELTA) {
    byteAt(pack, start + HASH_BYTES)
    return { name: toHex(pack.subarray(start, start + HASH_BYTES)), next: start + HASH_BYTES }
  }
  if (type !== OFFSET_DELTA) return null
  let next = start
  let byte = byteAt(pack, next++)
  let distance = byte & 0x7f
  while ((byte & 0x80) !== 0) {
    byte = byteAt(pack, next++)
    distance = (distance + 1) * 128 + (byte & 0x7f)
    if (distance > offset) break
  }
  if (distance === 0 || distance > offset) throw new Error('a delta of the pack points outside of it')
  return { name: offset - distance, next }
}

/** Reports whether a delta may be a commit or tree: unless its base is in the pack and holds file contents. */
const isWanted = ({ byOffset, undecided }: Reading, base: BaseName): boolean =>
  typeof base === 'string' || byOffset.has(base) || undecided.has(base)

/** Counts bytes that are about to be kept. */
function keep(reading: Reading, size: number): void {
  const { objectBytes, keptBytes, memoryBytes } = reading.limits
  if (size > objectBytes) throw new Error(`an object of the pack is larger than ${objectBytes} bytes`)
  reading.keptBytes += size
  if (reading.keptBytes > keptBytes) throw new Error(`the trees of the pack are larger than ${keptBytes} bytes`)
  reading.memoryBytes += size + OBJECT_BYTES
  if (reading.memoryBytes > memoryBytes) throw new Error(`reading the pack takes more than ${memoryBytes} bytes`)
}

async function acceptDelta(reading: Reading, own: Waiting, name: BaseName): Promise<void> {
  const base = typeof name === 'number' ? reading.byOffset.get(name) : reading.byHash.get(name)
  if (base) {
    const whole = await resolveDelta(reading, base, own.delta)
    if (whole) await acceptWhole(reading, own.offset, whole)
    return
  }
  const others = reading.waiting.get(name)
  if (others) others.push(own)
  else reading.waiting.set(name, [own])
  reading.undecided.add(own.offset)
}

/** Applies a delta; null for file contents beyond the limit. */
async function resolveDelta(reading: Reading, base: PackObject, delta: Uint8Array): Promise<PackObject | null> {
  const { resultSize } = readDeltaHeader(delta)
  if (base.kind === 'blob' && resultSize > reading.limits.fileBytes) return null
  keep(reading, resultSize)
  return { kind: base.kind, contents: await applyDelta(base.contents, delta, reading) }
}

/** Stores an object and, iteratively, all deltas that wait for it. */
async function acceptWhole(reading: Reading, offset: number, whole: PackObject): Promise<void> {
  const found: { offset: number; whole: PackObject }[] = [{ offset, whole }]
  for (let next = found.pop(); next; next = found.pop()) {
    const hash = await reading.hash(next.whole)
    reading.byHash.set(hash, next.whole)
    reading.byOffset.set(next.offset, next.whole)
    reading.undecided.delete(next.offset)
    for (const name of [hash, next.offset]) {
      const followers = reading.waiting.get(name) ?? []
      reading.waiting.delete(name)
      for (const follower of followers) {
        const whole = await resolveDelta(reading, next.whole, follower.delta)
        if (whole) found.push({ offset: follower.offset, whole })
        if (reading.slices.due()) await reading.slices.pause()
      }
    }
  }
}

/** Objects up to this size share pieces of memory of `PIECE_BYTES`. */
const SMALL_BYTES = 64 * 1024
const PIECE_BYTES = 1024 * 1024

/**
 * Makes a function that returns memory for one object. Small ones share pieces, because hundreds of thousands of
 * blocks of their own would leave the memory of the process in parts that it never gives back.
 */
function createAllocator() {
  let piece = new Uint8Array()
  let used = 0
  return (size: number): Uint8Array<ArrayBuffer> => {
    if (size > SMALL_BYTES) return new Uint8Array(size)
    if (used + size > piece.length) [piece, used] = [new Uint8Array(PIECE_BYTES), 0]
    used += size
    return piece.subarray(used - size, used)
  }
}

/** Makes a function that returns the SHA-1 of an object with its header, which is its name in git. */
function createHasher() {
  let bytes = new Uint8Array(SMALL_BYTES)
  return async ({ kind, contents }: PackObject): Promise<string> => {
    const header = new TextEncoder().encode(`${kind} ${contents.length}\0`)
    const length = header.length + contents.length
    if (length > bytes.length) bytes = new Uint8Array(length)
    bytes.set(header)
    bytes.set(contents, header.length)
    return toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', bytes.subarray(0, length))))
  }
}

/** Instructions between two checks of the clock. */
const BATCH = 4_096

/** Reads a delta's header: sizes of base and result, and the start of its instructions. */
function readDeltaHeader(delta: Uint8Array): { baseSize: number; resultSize: number; start: number } {
  const base = readSize(delta, 0)
  const result = readSize(delta, base.next)
  return { baseSize: base.value, resultSize: result.value, start: result.next }
}

function readSize(bytes: Uint8Array, start: number): { value: number; next: number } {
  let [value, factor] = [0, 1]
  for (let next = start; next < start + 7; next++) {
    const byte = bytes[next]
    if (byte === undefined) break
    value += (byte & 0x7f) * factor
    factor *= 128
    if ((byte & 0x80) === 0) return { value, next: next + 1 }
  }
  throw new Error('a size in the pack cannot be read')
}

/** Applies a delta; the caller has checked the size. Errors: plain for wrong base or damage, the signal's reason. */
async function applyDelta(base: Uint8Array, delta: Uint8Array, { slices, allocate }: Reading) {
  const { baseSize, resultSize, start } = readDeltaHeader(delta)
  if (baseSize !== base.length) throw new Error('a delta of the pack belongs to another object')
  const result = allocate(resultSize)
  let [position, written] = [start, 0]
  const takeByte = () => {
    const byte = delta[position++]
    if (byte === undefined) throw new Error('a delta of the pack is cut')
    return byte
  }
  for (let count = 1; position < delta.length; count++) {
    const instruction = takeByte()
    if (instruction === 0) throw new Error('a delta of the pack has an unknown instruction')
    const copies = (instruction & 0x80) !== 0
    const from = copies ? takeNumber(instruction, 4, takeByte) : position
    const length = copies ? takeNumber(instruction >> 4, 3, takeByte) || 0x10000 : instruction
    const source = copies ? base : delta
    if (from + length > source.length || written + length > resultSize)
      throw new Error('a delta of the pack reaches beyond its objects')
    result.set(source.subarray(from, from + length), written)
    written += length
    if (!copies) position += length
    if (count % BATCH === 0 && slices.due()) await slices.pause()
  }
  if (written !== resultSize) throw new Error('a delta of the pack is shorter than it says')
  return result
}

/** Reads a number whose non-zero bytes alone are stored, as the low bits of `present` state. */
function takeNumber(present: number, bytes: number, takeByte: () => number): number {
  let value = 0
  for (let index = 0; index < bytes; index++) if (present & (1 << index)) value += takeByte() * 256 ** index
  return value
}
