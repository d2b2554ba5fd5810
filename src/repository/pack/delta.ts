import type { Slices } from '../../base/slices.ts'

/** Instructions between two checks of the clock. */
const BATCH = 4_096

/** Reads a delta's header: sizes of base and result, and the start of its instructions. */
export function readDeltaHeader(delta: Uint8Array): { baseSize: number; resultSize: number; start: number } {
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
export async function applyDelta(base: Uint8Array, delta: Uint8Array, slices: Slices) {
  const { baseSize, resultSize, start } = readDeltaHeader(delta)
  if (baseSize !== base.length) throw new Error('a delta of the pack belongs to another object')
  const result = new Uint8Array(resultSize)
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
