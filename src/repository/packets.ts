/** The position of a packet's content in git's protocol; control packets have none. */
export interface Packet {
  kind: 'data' | 'control'
  start: number
  end: number
}

/** Formats an ASCII line as a packet: length in four hexadecimal digits, line, line feed. */
export const packetLine = (line: string): string => `${(line.length + 5).toString(16).padStart(4, '0')}${line}\n`

/** Yields the packets of an answer. Errors: a plain one for an answer that is cut or not git's. */
export function* readPackets(bytes: Uint8Array): Generator<Packet> {
  for (let offset = 0; offset < bytes.length; ) {
    const length = readLength(bytes, offset)
    const end = offset + Math.max(length, 4)
    if (length === 3 || end > bytes.length) throw notGit()
    yield { kind: length < 4 ? 'control' : 'data', start: offset + 4, end }
    offset = end
  }
}

export const notGit = () => new Error('the answer does not follow the protocol of git')

function readLength(bytes: Uint8Array, offset: number): number {
  let length = 0
  for (let index = offset; index < offset + 4; index++) {
    const digit = hexDigit(bytes[index] ?? 0)
    if (digit < 0) throw notGit()
    length = length * 16 + digit
  }
  return length
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
