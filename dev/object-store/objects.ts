import { createHash } from 'node:crypto'
import type { ServerAnswer } from '../server.ts'
import type { Disk, StoredObject } from './disk.ts'
import type { Uploads } from './multipart.ts'
import { type Call, noSuchKey, preconditionFailed, S3Error, textsOf, xmlAnswer } from './s3.ts'

export async function answerObject(disk: Disk, uploads: Uploads, call: Call): Promise<ServerAnswer> {
  if (!disk.hasBucket(call.bucket)) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')
  if (Buffer.byteLength(call.key) > 1024) throw new S3Error(400, 'KeyTooLongError', 'Your key is too long')
  if (call.query.has('uploads') || call.query.has('uploadId')) return answerMultipart(disk, uploads, call)
  if (call.method === 'GET' || call.method === 'HEAD')
    return disk.withLock(call.bucket, call.key, () => readObject(disk, call))
  if (call.method === 'PUT') return putObject(disk, call)
  if (call.method === 'DELETE') return removeObject(disk, call)
  throw new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')
}

const STORED = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
]

function selectStoredHeaders(headers: Record<string, string>): Record<string, string> {
  const stored: Record<string, string> = { 'content-type': 'binary/octet-stream' }
  for (const [name, value] of Object.entries(headers)) {
    if (!STORED.includes(name) && !name.startsWith('x-amz-meta-')) continue
    const text = name === 'content-encoding' ? value.replace(/\s*aws-chunked\s*,?\s*/, '') : value
    if (text !== '') stored[name] = text
  }
  return stored
}

const matchesTag = (condition: string, object: StoredObject): boolean =>
  condition === '*' ||
  condition.split(',').some((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', '') === object.etag)

/** Checks `If-Match` and `If-None-Match` of a write. The engine's lock file relies on the latter. */
function checkWrite(call: Call, existing: StoredObject | null): void {
  const match = call.headers['if-match']
  const none = call.headers['if-none-match']
  if (none !== undefined && existing && matchesTag(none, existing)) throw preconditionFailed()
  if (match === undefined) return
  if (!existing) throw noSuchKey()
  if (!matchesTag(match, existing)) throw preconditionFailed()
}

function putObject(disk: Disk, call: Call): Promise<ServerAnswer> {
  if (call.headers['x-amz-copy-source']) throw new S3Error(501, 'NotImplemented', 'Copying is not implemented here.')
  return disk.withLock(call.bucket, call.key, async () => {
    checkWrite(call, disk.find(call.bucket, call.key))
    const etag = createHash('md5').update(call.body).digest('hex')
    await disk.write(call.bucket, { key: call.key, etag, headers: selectStoredHeaders(call.headers) }, call.body)
    return { status: 200, headers: { etag: `"${etag}"` } }
  })
}

function removeObject(disk: Disk, call: Call): Promise<ServerAnswer> {
  return disk.withLock(call.bucket, call.key, async () => {
    if (call.headers['if-match'] !== undefined) checkWrite(call, disk.find(call.bucket, call.key))
    await disk.delete(call.bucket, call.key)
    return { status: 204, headers: {} }
  })
}

async function readObject(disk: Disk, call: Call): Promise<ServerAnswer> {
  const object = disk.find(call.bucket, call.key)
  if (!object) throw noSuchKey()
  const headers: Record<string, string> = {
    ...object.headers,
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.last_modified).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': String(object.size),
  }
  assertReadable(call.headers, object)
  if (isUnchanged(call.headers, object)) return { status: 304, headers: { etag: headers.etag ?? '' } }
  const range = parseRange(call.headers.range, object.size)
  if (range) {
    headers['content-length'] = String(range.end - range.start + 1)
    headers['content-range'] = `bytes ${range.start}-${range.end}/${object.size}`
  }
  const body = call.method === 'HEAD' ? undefined : await disk.read(call.bucket, call.key, range ?? undefined)
  return { status: range ? 206 : 200, headers, body }
}

const secondsOf = (date: string): number => Math.floor(Date.parse(date) / 1000)

/** Checks the conditions of a read that fail with 412. A tag overrides a time. Errors: `S3Error`. */
function assertReadable(headers: Call['headers'], object: StoredObject): void {
  const { 'if-match': match, 'if-unmodified-since': since } = headers
  const isChanged =
    match !== undefined
      ? !matchesTag(match, object)
      : since !== undefined && secondsOf(object.last_modified) > secondsOf(since)
  if (isChanged) throw preconditionFailed()
}

/** True if the reader has the current object, so 304 suffices. */
function isUnchanged(headers: Call['headers'], object: StoredObject): boolean {
  const { 'if-none-match': none, 'if-modified-since': since } = headers
  if (none !== undefined) return matchesTag(none, object)
  return since !== undefined && secondsOf(object.last_modified) <= secondsOf(since)
}

/** Reads a range of bytes. Any other form of the header is ignored, as the HTTP standard allows. */
function parseRange(header: string | undefined, size: number): { start: number; end: number } | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  const [, from = '', to = ''] = match ?? []
  if (!match || (from === '' && to === '')) return null
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (start >= size || end < start) throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable')
  return { start, end }
}

async function answerMultipart(disk: Disk, uploads: Uploads, call: Call): Promise<ServerAnswer> {
  const { bucket, key, query } = call
  const id = query.get('uploadId') ?? ''
  if (call.method === 'POST' && query.has('uploads')) {
    const UploadId = uploads.start(bucket, key, selectStoredHeaders(call.headers))
    return xmlAnswer('InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId })
  }
  if (call.method === 'PUT') {
    const etag = uploads.add(id, bucket, key, Number(query.get('partNumber')), call.body)
    return { status: 200, headers: { etag: `"${etag}"` } }
  }
  if (call.method === 'DELETE') {
    uploads.abort(id, bucket, key)
    return { status: 204, headers: {} }
  }
  if (call.method !== 'POST') throw new S3Error(501, 'NotImplemented', 'Listing parts is not implemented here.')
  const text = call.body.toString('utf8')
  const tags = textsOf(text, 'ETag')
  const list = textsOf(text, 'PartNumber').map((number, index) => ({ number: Number(number), etag: tags[index] ?? '' }))
  const whole = uploads.assemble(id, bucket, key, list)
  return disk.withLock(bucket, key, async () => {
    checkWrite(call, disk.find(bucket, key))
    await disk.write(bucket, { key, etag: whole.etag, headers: whole.headers }, whole.body)
    uploads.abort(id, bucket, key)
    return xmlAnswer('CompleteMultipartUploadResult', { Bucket: bucket, Key: key, ETag: `"${whole.etag}"` })
  })
}
