import { createHash, randomBytes } from 'node:crypto'
import type { ServerAnswer } from '../server.ts'
import type { Disk } from './disk.ts'
import { type Call, noSuchKey, notAllowed, S3Error, xmlAnswer } from './s3.ts'
import { encode } from './signature.ts'

const NAME = /^(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** Answers requests that name a bucket and no key. Errors: `S3Error`. */
export async function answerBucket(disk: Disk, call: Call): Promise<ServerAnswer> {
  const { method, bucket, query } = call
  if (method === 'PUT' && query.size === 0) return createBucket(disk, bucket)
  if (method === 'GET') return listObjects(disk, call)
  disk.find(bucket, '')
  if (method === 'HEAD') return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' } }
  throw notAllowed()
}

async function createBucket(disk: Disk, bucket: string): Promise<ServerAnswer> {
  if (!NAME.test(bucket)) throw new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.')
  if (await disk.createBucket(bucket)) return { status: 200, headers: { location: `/${bucket}` } }
  throw new S3Error(
    409,
    'BucketAlreadyOwnedByYou',
    'Your previous request to create the named bucket succeeded and you already own it.',
  )
}

const LIST_PARAMETERS = new Set(['list-type', 'prefix', 'max-keys', 'encoding-type', 'continuation-token'])

/** Answers ListObjectsV2 with prefix and pages. */
function listObjects(disk: Disk, { bucket, query }: Call): ServerAnswer {
  const other = [...query.keys()].find((name) => !LIST_PARAMETERS.has(name))
  if (other !== undefined)
    throw new S3Error(501, 'NotImplemented', `A parameter implies functionality that is not here: ${other}`)
  const prefix = query.get('prefix') ?? ''
  const given = query.get('max-keys') ?? '1000'
  if (!/^\d{1,10}$/.test(given)) throw new S3Error(400, 'InvalidArgument', 'max-keys must be a number from 0 on.')
  const limit = Math.min(Number(given), 1000)
  const token = query.get('continuation-token')
  const text = query.get('encoding-type') === 'url' ? encode : (value: string) => value
  const after = token === undefined ? '' : Buffer.from(token, 'base64url').toString('utf8')
  const left = disk.list(bucket, prefix, after)
  const page = left.slice(0, limit)
  const isTruncated = limit > 0 && left.length > limit
  return xmlAnswer('ListBucketResult', {
    Name: bucket,
    Prefix: text(prefix),
    MaxKeys: limit,
    EncodingType: query.get('encoding-type'),
    KeyCount: page.length,
    IsTruncated: isTruncated,
    ContinuationToken: token,
    NextContinuationToken: isTruncated ? Buffer.from(page.at(-1)?.key ?? '').toString('base64url') : undefined,
    Contents: page.map((object) => ({
      Key: text(object.key),
      LastModified: object.last_modified,
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
  })
}

/** An unfinished multipart upload. It is kept in memory, because its parts are not readable before it is completed. */
interface Upload {
  bucket: string
  key: string
  headers: Record<string, string>
  parts: Map<number, { body: Buffer; md5: Buffer }>
}
export type Uploads = Map<string, Upload>

/** Answers requests that name an object. Errors: `S3Error`. */
export async function answerObject(disk: Disk, uploads: Uploads, call: Call): Promise<ServerAnswer> {
  const { method, bucket, key, query } = call
  disk.find(bucket, key)
  if (query.has('uploads') || query.has('uploadId')) return answerMultipart(disk, uploads, call)
  if (method === 'GET' || method === 'HEAD') return disk.withLock(bucket, key, () => readObject(disk, call))
  if (method === 'PUT') return putObject(disk, call)
  if (method !== 'DELETE') throw notAllowed()
  await disk.withLock(bucket, key, () => disk.delete(bucket, key))
  return { status: 204 }
}

const STORED = /^(content-(type|disposition|encoding|language)|cache-control|expires|x-amz-meta-.*)$/

const selectStoredHeaders = (headers: Record<string, string>): Record<string, string> => ({
  'content-type': 'binary/octet-stream',
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => STORED.test(name))),
})

const md5Of = (body: Buffer): Buffer => createHash('md5').update(body).digest()

function putObject(disk: Disk, call: Call): Promise<ServerAnswer> {
  const { bucket, key, headers, body } = call
  if (headers['x-amz-copy-source']) throw new S3Error(501, 'NotImplemented', 'Copying is not implemented here.')
  return disk.withLock(bucket, key, async () => {
    // The engine's lock file relies on this condition.
    if (headers['if-none-match'] === '*' && disk.find(bucket, key))
      throw new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
    const etag = md5Of(body).toString('hex')
    await disk.write(bucket, { key, etag, headers: selectStoredHeaders(headers) }, body)
    return { status: 200, headers: { etag: `"${etag}"` } }
  })
}

async function readObject(disk: Disk, call: Call): Promise<ServerAnswer> {
  const object = disk.find(call.bucket, call.key)
  if (!object) throw noSuchKey()
  const range = parseRange(call.headers.range, object.size)
  const { start, end } = range ?? { start: 0, end: object.size - 1 }
  const headers: Record<string, string> = {
    ...object.headers,
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.last_modified).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': String(end - start + 1),
    ...(range && { 'content-range': `bytes ${start}-${end}/${object.size}` }),
  }
  const body = call.method === 'HEAD' ? undefined : (await disk.read(object)).subarray(start, end + 1)
  return { status: range ? 206 : 200, headers, body }
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
  const { method, bucket, key, query } = call
  if (method === 'POST' && query.has('uploads')) {
    const UploadId = randomBytes(16).toString('hex')
    uploads.set(UploadId, { bucket, key, headers: selectStoredHeaders(call.headers), parts: new Map() })
    return xmlAnswer('InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId })
  }
  const id = query.get('uploadId') ?? ''
  const upload = uploads.get(id)
  if (!upload || upload.bucket !== bucket || upload.key !== key)
    throw new S3Error(404, 'NoSuchUpload', 'The specified multipart upload does not exist.')
  if (method === 'PUT') {
    const md5 = md5Of(call.body)
    upload.parts.set(Number(query.get('partNumber')), { body: call.body, md5 })
    return { status: 200, headers: { etag: `"${md5.toString('hex')}"` } }
  }
  if (method === 'DELETE') {
    uploads.delete(id)
    return { status: 204 }
  }
  if (method !== 'POST') throw new S3Error(501, 'NotImplemented', 'Listing parts is not implemented here.')
  const whole = assemble(upload, call.body.toString('utf8'))
  await disk.withLock(bucket, key, () =>
    disk.write(bucket, { key, etag: whole.etag, headers: upload.headers }, whole.body),
  )
  uploads.delete(id)
  return xmlAnswer('CompleteMultipartUploadResult', { Bucket: bucket, Key: key, ETag: `"${whole.etag}"` })
}

/** Joins the parts that the list names to the whole object. */
function assemble({ parts }: Upload, list: string): { body: Buffer; etag: string } {
  const textsOf = (name: string) => [...list.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, t]) => t)
  const tags = textsOf('ETag').map((tag) => tag?.replaceAll(/&quot;|&#34;|"/g, ''))
  const found = textsOf('PartNumber').map((number, index) => {
    const part = parts.get(Number(number))
    if (!part || part.md5.toString('hex') !== tags[index])
      throw new S3Error(400, 'InvalidPart', 'One or more of the specified parts could not be found.')
    return part
  })
  if (found.length === 0) throw new S3Error(400, 'MalformedXML', 'The XML you provided was not well-formed.')
  const md5 = md5Of(Buffer.concat(found.map((part) => part.md5)))
  return { body: Buffer.concat(found.map((part) => part.body)), etag: `${md5.toString('hex')}-${found.length}` }
}
