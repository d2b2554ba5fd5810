import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { malformed, S3Error } from './s3.ts'
import { type Accepted, hmac, same, sha256 } from './signature.ts'

type Headers = Record<string, string>

/** Decodes the bytes of an object: removes the framing of chunks and checks hashes, signatures and checksums. */
export function decodePayload(raw: Buffer<ArrayBuffer>, headers: Headers, accepted: Accepted): Buffer<ArrayBuffer> {
  const declared = accepted.payloadHash
  if (declared.startsWith('STREAMING-')) {
    const { body, trailers } = decodeChunks(raw, accepted, declared)
    const length = headers['x-amz-decoded-content-length']
    if (length !== undefined && Number(length) !== body.length)
      throw new S3Error(400, 'IncompleteBody', 'The body is incomplete.')
    checkChecksums(body, { ...headers, ...trailers })
    return body
  }
  if (declared !== 'UNSIGNED-PAYLOAD' && sha256(raw) !== declared)
    throw new S3Error(
      400,
      'XAmzContentSHA256Mismatch',
      'The provided x-amz-content-sha256 header does not match what was computed.',
    )
  checkChecksums(raw, headers)
  return raw
}

const CRLF = Buffer.from('\r\n')

function decodeChunks(raw: Buffer<ArrayBuffer>, accepted: Accepted, kind: string) {
  const signed = kind.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD')
  const parts: Buffer[] = []
  let previous = accepted.signature
  for (let offset = 0; ; ) {
    const lineEnd = raw.indexOf(CRLF, offset)
    const match =
      lineEnd < 0
        ? null
        : /^([0-9a-fA-F]+)(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(raw.toString('latin1', offset, lineEnd))
    if (!match) throw malformed('The chunked body is malformed.')
    const size = Number.parseInt(match[1] ?? '', 16)
    const chunk = raw.subarray(lineEnd + 2, lineEnd + 2 + size)
    if (chunk.length !== size) throw new S3Error(400, 'IncompleteBody', 'The body is incomplete.')
    if (signed) {
      const text = [
        'AWS4-HMAC-SHA256-PAYLOAD',
        accepted.timestamp,
        accepted.scope,
        previous,
        sha256(''),
        sha256(chunk),
      ].join('\n')
      previous = hmac(accepted.signingKey, text).toString('hex')
      if (!same(previous, match[2] ?? '')) throw mismatch()
    }
    offset = lineEnd + 2 + size
    if (size === 0)
      return {
        body: Buffer.concat(parts),
        trailers: readTrailers(raw.toString('latin1', offset), accepted, previous, kind),
      }
    parts.push(chunk)
    offset += 2
  }
}

const mismatch = () => new S3Error(403, 'SignatureDoesNotMatch', 'The signature of a chunk does not match.')

function readTrailers(text: string, accepted: Accepted, previous: string, kind: string): Headers {
  const trailers: Headers = {}
  for (const line of text.split('\r\n').filter(Boolean)) {
    const at = line.indexOf(':')
    if (at > 0) trailers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim()
  }
  if (!kind.endsWith('-TRAILER') || !kind.includes('HMAC')) return trailers
  const { 'x-amz-trailer-signature': signature = '', ...rest } = trailers
  const lines = Object.entries(rest).map(([name, value]) => `${name}:${value}\n`)
  const string = [
    'AWS4-HMAC-SHA256-TRAILER',
    accepted.timestamp,
    accepted.scope,
    previous,
    sha256(lines.join('')),
  ].join('\n')
  if (!same(hmac(accepted.signingKey, string).toString('hex'), signature)) throw mismatch()
  return rest
}

const base64Of = (value: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes.toString('base64')
}

const CHECKSUMS: Record<string, (body: Buffer) => string> = {
  'content-md5': (body) => createHash('md5').update(body).digest('base64'),
  'x-amz-checksum-sha256': (body) => createHash('sha256').update(body).digest('base64'),
  'x-amz-checksum-sha1': (body) => createHash('sha1').update(body).digest('base64'),
  'x-amz-checksum-crc32': (body) => base64Of(crc32(body)),
  'x-amz-checksum-crc32c': (body) => base64Of(crc32c(body)),
}

function checkChecksums(body: Buffer, headers: Headers): void {
  for (const [name, compute] of Object.entries(CHECKSUMS)) {
    const expected = headers[name]
    if (expected !== undefined && expected !== compute(body))
      throw new S3Error(400, 'BadDigest', `The ${name} you specified did not match the calculated checksum.`)
  }
}

function crc32c(body: Buffer): number {
  let value = 0xffffffff
  for (const byte of body) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}
