import type { ServerAnswer } from '../server.ts'
import type { Disk } from './disk.ts'
import { type Call, notAllowed, S3Error, xmlAnswer } from './s3.ts'
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
