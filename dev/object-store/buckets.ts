import type { ServerAnswer } from '../server.ts'
import type { Disk, StoredObject } from './disk.ts'
import { type Call, S3Error, textsOf, xmlAnswer } from './s3.ts'
import { encode } from './signature.ts'

export function listBuckets(disk: Disk, owner: string): ServerAnswer {
  const buckets = disk.buckets().map(({ name, created }) => ({ Name: name, CreationDate: created }))
  return xmlAnswer('ListAllMyBucketsResult', { Owner: { ID: owner, DisplayName: owner }, Buckets: { Bucket: buckets } })
}

const NAME = /^(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** Answers requests that name a bucket and no key. */
export async function answerBucket(disk: Disk, call: Call): Promise<ServerAnswer> {
  const { bucket, query } = call
  if (call.method === 'PUT' && query.size === 0) return createBucket(disk, bucket)
  if (!disk.hasBucket(bucket)) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')
  if (call.method === 'HEAD') return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' } }
  if (call.method === 'DELETE') {
    await disk.deleteBucket(bucket)
    return { status: 204, headers: {} }
  }
  if (call.method === 'POST' && query.has('delete')) return deleteMany(disk, call)
  if (call.method !== 'GET')
    throw new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')
  if (query.has('location')) return xmlAnswer('LocationConstraint', '')
  if (query.has('versioning')) return xmlAnswer('VersioningConfiguration', {})
  const other = ['acl', 'policy', 'encryption', 'lifecycle', 'tagging', 'cors', 'versions', 'uploads'].find((name) =>
    query.has(name),
  )
  if (other)
    throw new S3Error(
      501,
      'NotImplemented',
      `A header or query you provided implies functionality that is not here: ${other}`,
    )
  return listObjects(disk, call)
}

async function createBucket(disk: Disk, bucket: string): Promise<ServerAnswer> {
  if (!NAME.test(bucket)) throw new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.')
  return disk.withLock(bucket, '', async () => {
    if (disk.hasBucket(bucket))
      throw new S3Error(
        409,
        'BucketAlreadyOwnedByYou',
        'Your previous request to create the named bucket succeeded and you already own it.',
      )
    await disk.createBucket(bucket)
    return { status: 200, headers: { location: `/${bucket}` } }
  })
}

async function deleteMany(disk: Disk, call: Call): Promise<ServerAnswer> {
  const keys = textsOf(call.body.toString('utf8'), 'Key')
  if (keys.length === 0 || keys.length > 1000)
    throw new S3Error(400, 'MalformedXML', 'The XML you provided was not well-formed.')
  for (const key of keys) await disk.withLock(call.bucket, key, () => disk.delete(call.bucket, key))
  const quiet = textsOf(call.body.toString('utf8'), 'Quiet')[0] === 'true'
  return xmlAnswer('DeleteResult', { Deleted: quiet ? [] : keys.map((Key) => ({ Key })) })
}

/** Answers ListObjects in both versions, with prefix, delimiter and pages. */
function listObjects(disk: Disk, { bucket, query }: Call): ServerAnswer {
  const v2 = query.get('list-type') === '2'
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const asked = query.get('max-keys') ?? '1000'
  if (!/^\d{1,10}$/.test(asked)) throw new S3Error(400, 'InvalidArgument', 'max-keys must be a number from 0 on.')
  const limit = Math.min(Number(asked), 1000)
  const token = query.get('continuation-token')
  const after = v2
    ? token
      ? Buffer.from(token, 'base64url').toString('utf8')
      : (query.get('start-after') ?? '')
    : (query.get('marker') ?? '')
  const text = query.get('encoding-type') === 'url' ? encode : (value: string) => value
  const { objects, prefixes, next } = selectPage(disk.list(bucket, prefix), { prefix, delimiter, limit, after })
  const contents = objects.map((object) => ({
    Key: text(object.key),
    LastModified: object.last_modified,
    ETag: `"${object.etag}"`,
    Size: object.size,
    StorageClass: 'STANDARD',
  }))
  return xmlAnswer('ListBucketResult', {
    Name: bucket,
    Prefix: text(prefix),
    Delimiter: delimiter ? text(delimiter) : undefined,
    MaxKeys: limit,
    EncodingType: query.get('encoding-type') ?? undefined,
    KeyCount: v2 ? contents.length + prefixes.length : undefined,
    IsTruncated: next !== null,
    ContinuationToken: token ?? undefined,
    NextContinuationToken: v2 && next !== null ? Buffer.from(next).toString('base64url') : undefined,
    Marker: v2 ? undefined : text(after),
    NextMarker: !v2 && next !== null ? text(next) : undefined,
    Contents: contents,
    CommonPrefixes: prefixes.map((value) => ({ Prefix: text(value) })),
  })
}

function selectPage(all: StoredObject[], options: { prefix: string; delimiter: string; limit: number; after: string }) {
  const objects: StoredObject[] = []
  const prefixes = new Set<string>()
  let last = ''
  for (const object of all) {
    const rest = options.delimiter ? object.key.indexOf(options.delimiter, options.prefix.length) : -1
    const entry = rest < 0 ? object.key : object.key.slice(0, rest + options.delimiter.length)
    if (Buffer.compare(Buffer.from(entry), Buffer.from(options.after)) <= 0 || prefixes.has(entry)) continue
    if (objects.length + prefixes.size >= options.limit) return { objects, prefixes: [...prefixes], next: last }
    if (rest < 0) objects.push(object)
    else prefixes.add(entry)
    last = entry
  }
  return { objects, prefixes: [...prefixes], next: null }
}
