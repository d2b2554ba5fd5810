/** A field of a protobuf message. The value is a number for the fixed and variable kinds, bytes for the others. */
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
    switch (Number(key & 7n)) {
      case 0:
        yield { number, value: varint() }
        break
      case 1:
        yield { number, value: bytes(8) }
        break
      case 2:
        yield { number, value: bytes(Number(varint())) }
        break
      case 5:
        yield { number, value: bytes(4) }
        break
      default:
        throw new RangeError('a field is of no known kind')
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

export const bytesOf = ({ value }: Field): Uint8Array => {
  if (typeof value === 'bigint') throw new RangeError('a field is a number where none should be')
  return value
}
export const textOf = (field: Field): string => decoder.decode(bytesOf(field))
export const numberOf = ({ value }: Field): bigint => {
  if (typeof value !== 'bigint') throw new RangeError('a field is no number where one should be')
  return value
}
/** Reads a little-endian field of eight bytes. */
export function readFixed64(field: Field): bigint {
  const bytes = eight(field)
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true)
}
export function doubleOf(field: Field): number {
  const bytes = eight(field)
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
}
function eight(field: Field): Uint8Array {
  const bytes = bytesOf(field)
  if (bytes.length !== 8) throw new RangeError('a field has another length')
  return bytes
}
