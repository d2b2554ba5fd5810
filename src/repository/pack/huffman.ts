/** A canonical Huffman code (RFC 1951, 3.2.2), ready to be decoded. */
export interface Code {
  /** By the next nine bits: `symbol << 4 | length`, or 0 where the code is longer than nine bits or unused. */
  fast: Uint16Array
  /** How many codes have each length. */
  counts: Uint16Array
  /** The symbols in the order of their codes. */
  symbols: Uint16Array
}

export const FAST_BITS = 9
export const MAX_BITS = 15

/**
 * Builds the code in which symbol `n` has `lengths[n]` bits; 0 means that the symbol is not used. A code may be
 * incomplete: bits that stand for no symbol are found when they are decoded.
 * Errors: more codes than their lengths allow.
 */
export function buildCode(lengths: Uint8Array): Code {
  const counts = new Uint16Array(MAX_BITS + 1)
  for (const length of lengths) counts[length] = at(counts, length) + 1
  counts[0] = 0
  const offsets = new Uint16Array(MAX_BITS + 2)
  const next = new Uint16Array(MAX_BITS + 2)
  let [left, code] = [1, 0]
  for (let length = 1; length <= MAX_BITS; length++) {
    left = left * 2 - at(counts, length)
    if (left < 0) throw new Error('the compressed data has an impossible code')
    next[length] = code
    code = (code + at(counts, length)) << 1
    offsets[length + 1] = at(offsets, length) + at(counts, length)
  }
  const symbols = new Uint16Array(lengths.length)
  const fast = new Uint16Array(1 << FAST_BITS)
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = at(lengths, symbol)
    if (length === 0) continue
    symbols[at(offsets, length)] = symbol
    offsets[length] = at(offsets, length) + 1
    const own = at(next, length)
    next[length] = own + 1
    if (length > FAST_BITS) continue
    for (let bits = reverse(own, length); bits < fast.length; bits += 1 << length) fast[bits] = (symbol << 4) | length
  }
  return { fast, counts, symbols }
}

/** The number at an index that is known to exist. */
export const at = (list: Uint8Array | Uint16Array, index: number): number => list[index] as number

function reverse(code: number, length: number): number {
  let result = 0
  for (let bit = 0; bit < length; bit++) result |= ((code >> bit) & 1) << (length - 1 - bit)
  return result
}

/** A code whose symbols from `groups` have these lengths: pairs of a count of symbols and their length. */
const runs = (...groups: [count: number, length: number][]): Uint8Array =>
  Uint8Array.from(groups.flatMap(([count, length]) => Array<number>(count).fill(length)))

/** The codes of a block with fixed codes (RFC 1951, 3.2.6). */
export const FIXED_LITERALS: Code = buildCode(runs([144, 8], [112, 9], [24, 7], [8, 8]))
export const FIXED_DISTANCES: Code = buildCode(runs([30, 5]))
