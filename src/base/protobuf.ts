/** A field of a protobuf message. The value is a number for a variable-length integer, else its bytes. */
export type Field = { number: number; value: bigint | Uint8Array }

/** Reads the fields of a message in their order. Errors: `RangeError` for invalid bytes. */
export function* readFields(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new RangeError('a number is too long')
  }
  const bytes = (length: number): Uint8Array => {
    if (at + length > message.length) throw new RangeError('a field is cut off')
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const key = varint()
    const number = Number(key >> 3n)
    const kind = Number(key & 7n)
    if (kind === 0) yield { number, value: varint() }
    else if (kind === 1) yield { number, value: bytes(8) }
    else if (kind === 2) yield { number, value: bytes(Number(varint())) }
    else if (kind === 5) yield { number, value: bytes(4) }
    else throw new RangeError('a field is of no known kind')
  }
}

/** Returns the bytes of a field. Errors: `RangeError` for a number. */
export const bytesOf = ({ value }: Field): Uint8Array => {
  if (typeof value === 'bigint') throw new RangeError('a field is a number where none should be')
  return value
}
