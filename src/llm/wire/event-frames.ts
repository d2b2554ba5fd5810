import { isJsonObject, parseJson } from '../../base/json.ts'

/** The content type of streams of AWS, whose events are binary frames. */
export const EVENT_STREAM = 'application/vnd.amazon.eventstream'

/** The statuses of exceptions within a stream, by the beginning of their names; others are those of a request. */
const STATUSES: readonly (readonly [name: string, status: number])[] = [
  ['throttling', 429],
  ['internalServer', 500],
  // The reference says 424 and to repeat the request.
  ['modelStreamError', 502],
  ['serviceUnavailable', 503],
  ['modelTimeout', 504],
]

/** Length and checksum at both ends of a frame: two numbers and their checksum before, one checksum after. */
const PRELUDE = 12
const CHECKSUM = 4
/** The largest frame that is read; AWS sends at most 16 MiB. */
const MAX_FRAME = 24 * 1024 * 1024

/**
 * Creates a reader of frames, in which chunks may begin and end anywhere. Each event becomes `{<type>: <content>}`, and
 * an exception `{error: {message, code}}`. Source: "Event stream encoding" of the documentation of Smithy.
 * @returns a function that takes a chunk and returns the events that are complete. Errors: `RangeError` for a frame
 * that is too large or damaged
 */
export function createFrameReader(): (chunk: Uint8Array) => unknown[] {
  let pending = new Uint8Array()
  return (chunk) => {
    const bytes = new Uint8Array(pending.byteLength + chunk.byteLength)
    bytes.set(pending)
    bytes.set(chunk, pending.byteLength)
    const view = new DataView(bytes.buffer)
    const events: unknown[] = []
    let at = 0
    while (bytes.byteLength - at >= PRELUDE) {
      const length = view.getUint32(at)
      if (view.getUint32(at + 8) !== crc32(bytes.subarray(at, at + 8))) throw new RangeError('a frame is damaged')
      if (length < PRELUDE + CHECKSUM || length > MAX_FRAME) throw new RangeError('a frame has an impossible length')
      if (bytes.byteLength - at < length) break
      const end = at + length - CHECKSUM
      if (view.getUint32(end) !== crc32(bytes.subarray(at, end))) throw new RangeError('a frame is damaged')
      const content = at + PRELUDE + view.getUint32(at + 4)
      if (content > end) throw new RangeError('a frame has an impossible length')
      events.push(readFrame(readHeaders(bytes.subarray(at + PRELUDE, content)), bytes.subarray(content, end)))
      at += length
    }
    pending = bytes.slice(at)
    return events
  }
}

function readFrame(headers: ReadonlyMap<string, string>, content: Uint8Array): unknown {
  const value = parseJson(new TextDecoder().decode(content))
  const type = headers.get(':event-type')
  if (headers.get(':message-type') === 'event' && type !== undefined) return { [type]: value ?? {} }
  const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'unknown'
  const told = isJsonObject(value) && typeof value.message === 'string' ? value.message : headers.get(':error-message')
  const code = STATUSES.find(([start]) => name.toLowerCase().startsWith(start.toLowerCase()))?.[1] ?? 400
  return { error: { message: told || name, code } }
}

/** The length of the value of a header by its type; the two that are missing begin with their own length. */
const LENGTHS: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const TEXT = 7

function readHeaders(bytes: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = (from: number, length: number) => new TextDecoder().decode(bytes.subarray(from, from + length))
  let at = 0
  while (at < bytes.byteLength) {
    const nameLength = view.getUint8(at)
    const name = text(at + 1, nameLength)
    at += 1 + nameLength
    const type = view.getUint8(at++)
    let length = LENGTHS[type]
    if (length === undefined) {
      length = view.getUint16(at)
      at += 2
    }
    if (type === TEXT) headers.set(name, text(at, length))
    at += length
  }
  return headers
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** Computes the checksum CRC-32 (IEEE 802.3), which the web standards have no function for. */
function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (value >>> 8) ^ (CRC_TABLE[(value ^ byte) & 0xff] ?? 0)
  return (value ^ 0xffffffff) >>> 0
}
