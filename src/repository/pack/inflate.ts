import type { Slices } from '../../base/slices.ts'
import { at, buildCode, type Code, FAST_BITS, FIXED_DISTANCES, FIXED_LITERALS, MAX_BITS } from './huffman.ts'

/** Symbols between two looks at the clock. One symbol copies at most 258 bytes. */
const BATCH = 4_096
const END_OF_BLOCK = 256

const LENGTHS = Uint16Array.of(
  ...[
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ],
)
const LENGTH_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
)
const DISTANCES = Uint16Array.of(
  ...[1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097],
  ...[6145, 8193, 12289, 16385, 24577],
)
const DISTANCE_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13],
)
/** The order in which the lengths of the code lengths are written. */
const LENGTH_ORDER = Uint8Array.of(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)

/** Where decoding stands. `position` may be ahead of what was used by the bytes that `bits` still holds. */
interface Inflation {
  source: Uint8Array
  end: number
  position: number
  bits: number
  bitCount: number
  /** Null where only the end of the data is looked for. */
  output: Uint8Array<ArrayBuffer> | null
  written: number
  size: number
}

/**
 * Inflates one zlib stream (RFC 1950) inside a larger text and finds where it ends, which the stream of the platform
 * cannot say. Memory is taken for `size` bytes only, and for none where the contents are not wanted. The checksum at
 * the end is not compared: what is read is looked up by its hash.
 * @param range where the stream begins in `source`, and where it must have ended
 * @param size the length that the contents must have
 * @returns the contents, unless they were not wanted, and the position behind the stream
 * Errors: plain ones for damaged data and for any other length; the reason of the signal of the slices.
 */
export async function inflate(
  source: Uint8Array,
  range: { start: number; end: number },
  { size, wanted, slices }: { size: number; wanted: boolean; slices: Slices },
): Promise<{ contents: Uint8Array<ArrayBuffer> | null; end: number }> {
  const output = wanted ? new Uint8Array(size) : null
  const state: Inflation = { source, ...range, position: range.start, bits: 0, bitCount: 0, output, written: 0, size }
  readHeader(state)
  for (let last = false; !last; ) {
    last = takeBits(state, 1) === 1
    await inflateBlock(state, takeBits(state, 2), slices)
    if (slices.due()) await slices.pause()
  }
  if (state.written !== size) throw new Error('the compressed data is shorter than it says')
  const end = state.position - (state.bitCount >> 3) + 4
  if (end > state.end) throw cut()
  return { contents: output, end }
}

const cut = () => new Error('the compressed data is cut')

function readHeader(state: Inflation): void {
  const [method, flags] = [takeBits(state, 8), takeBits(state, 8)]
  if ((method & 15) !== 8 || (method * 256 + flags) % 31 !== 0 || (flags & 32) !== 0)
    throw new Error('the data is not compressed as a pack has it')
}

async function inflateBlock(state: Inflation, type: number, slices: Slices): Promise<void> {
  if (type === 0) return copyStored(state)
  if (type === 3) throw new Error('the compressed data has a block of an unknown type')
  const { literals, distances } = type === 1 ? FIXED : readCodes(state)
  while (!decode(state, literals, distances)) if (slices.due()) await slices.pause()
}

const FIXED = { literals: FIXED_LITERALS, distances: FIXED_DISTANCES }

function copyStored(state: Inflation): void {
  takeBits(state, state.bitCount & 7)
  const [length, complement] = [takeBits(state, 16), takeBits(state, 16)]
  if ((length ^ complement) !== 0xffff) throw new Error('the compressed data has a damaged block')
  state.position -= state.bitCount >> 3
  state.bits = 0
  state.bitCount = 0
  if (state.position + length > state.end) throw cut()
  if (state.written + length > state.size) throw tooLong()
  state.output?.set(state.source.subarray(state.position, state.position + length), state.written)
  state.position += length
  state.written += length
}

const tooLong = () => new Error('the compressed data is longer than it says')

/** Takes up to 16 bits. Behind the end there are zeros; who reads that far is stopped soon after. */
function takeBits(state: Inflation, count: number): number {
  while (state.bitCount < count) {
    if (state.position - 4 > state.end) throw cut()
    state.bits |= (state.source[state.position++] ?? 0) << state.bitCount
    state.bitCount += 8
  }
  const value = state.bits & ((1 << count) - 1)
  state.bits >>>= count
  state.bitCount -= count
  return value
}

/** Reads the codes of a block that brings its own (RFC 1951, 3.2.7). */
function readCodes(state: Inflation): { literals: Code; distances: Code } {
  const [literalCount, distanceCount, orderCount] = [
    takeBits(state, 5) + 257,
    takeBits(state, 5) + 1,
    takeBits(state, 4) + 4,
  ]
  const ofLengths = new Uint8Array(19)
  for (let index = 0; index < orderCount; index++) ofLengths[at(LENGTH_ORDER, index)] = takeBits(state, 3)
  const lengthCode = buildCode(ofLengths)
  const lengths = new Uint8Array(literalCount + distanceCount)
  for (let filled = 0; filled < lengths.length; ) {
    const symbol = takeSymbol(state, lengthCode)
    if (symbol < 16) {
      lengths[filled++] = symbol
      continue
    }
    if (symbol === 16 && filled === 0) throw new Error('the compressed data repeats what is not there')
    const value = symbol === 16 ? at(lengths, filled - 1) : 0
    const repeats =
      symbol === 16 ? 3 + takeBits(state, 2) : symbol === 17 ? 3 + takeBits(state, 3) : 11 + takeBits(state, 7)
    if (filled + repeats > lengths.length) throw new Error('the compressed data has an impossible code')
    lengths.fill(value, filled, filled + repeats)
    filled += repeats
  }
  return {
    literals: buildCode(lengths.subarray(0, literalCount)),
    distances: buildCode(lengths.subarray(literalCount)),
  }
}

/** Takes the bits of one symbol. */
function takeSymbol(state: Inflation, code: Code): number {
  while (state.bitCount < MAX_BITS) {
    if (state.position - 4 > state.end) throw cut()
    state.bits |= (state.source[state.position++] ?? 0) << state.bitCount
    state.bitCount += 8
  }
  const entry = at(code.fast, state.bits & ((1 << FAST_BITS) - 1))
  if (entry !== 0) {
    state.bits >>>= entry & 15
    state.bitCount -= entry & 15
    return entry >> 4
  }
  return takeLongSymbol(state, code)
}

/** Goes through the code bit by bit, which is needed for rare symbols only. */
function takeLongSymbol(state: Inflation, { counts, symbols }: Code): number {
  let [value, first, index] = [0, 0, 0]
  for (let length = 1; length <= MAX_BITS; length++) {
    value |= (state.bits >> (length - 1)) & 1
    const count = at(counts, length)
    if (value - count < first) {
      state.bits >>>= length
      state.bitCount -= length
      return at(symbols, index + value - first)
    }
    index += count
    first = (first + count) << 1
    value <<= 1
  }
  throw new Error('the compressed data has an unknown code')
}

/** Decodes up to a batch of symbols. Answers whether the block has ended. */
function decode(state: Inflation, literals: Code, distances: Code): boolean {
  const { output, size } = state
  for (let round = 0; round < BATCH; round++) {
    const symbol = takeSymbol(state, literals)
    if (symbol === END_OF_BLOCK) return true
    if (symbol < END_OF_BLOCK) {
      if (state.written >= size) throw tooLong()
      if (output) output[state.written] = symbol
      state.written++
    } else {
      copyMatch(state, symbol - 257, distances)
    }
  }
  return false
}

/** Copies what was written before. The length and its extra bits stand before the distance and its own. */
function copyMatch(state: Inflation, lengthIndex: number, distances: Code): void {
  if (lengthIndex >= LENGTHS.length) throw new Error('the compressed data has an unknown length')
  const length = at(LENGTHS, lengthIndex) + takeBits(state, at(LENGTH_BITS, lengthIndex))
  const index = takeSymbol(state, distances)
  if (index >= DISTANCES.length) throw new Error('the compressed data has an unknown distance')
  const distance = at(DISTANCES, index) + takeBits(state, at(DISTANCE_BITS, index))
  const { output, written } = state
  if (distance > written) throw new Error('the compressed data points before its beginning')
  if (written + length > state.size) throw tooLong()
  if (output) for (let to = written; to < written + length; to++) output[to] = at(output, to - distance)
  state.written = written + length
}
