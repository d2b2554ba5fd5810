import { denied } from './errors.ts'
import { type Access, allows, type Policy } from './policy.ts'
import type { Call } from './types.ts'
import { textsOf } from './xml.ts'

const arn = (path: string) => `arn:aws:s3:::${path}`

/** Listing a bucket below a prefix; without a prefix this is what a look at the bucket itself needs. */
const listing = (bucket: string, prefix?: string): Access => ({
  action: 's3:ListBucket',
  resource: arn(bucket),
  ...(prefix === undefined ? {} : { prefix }),
})

/** Checks that a policy allows everything that a request does. Errors: `S3Error` `AccessDenied`. */
export function assertAllowed(policy: Policy, call: Call): void {
  if (!accessesOf(call).every((access) => allows(policy, access))) throw denied()
}

/**
 * Whether somebody with this policy may learn that an object is missing. As with S3, that takes the permission to list
 * it; everybody else is denied, whether it exists or not.
 */
export const mayLearnAbsence = (policy: Policy, { bucket, key }: Call): boolean => allows(policy, listing(bucket, key))

function accessesOf(call: Call): Access[] {
  const { method, bucket, key, query } = call
  if (bucket === '') return [{ action: 's3:ListAllMyBuckets', resource: arn('*') }]
  if (key !== '') return [{ action: objectAction(method, query), resource: arn(`${bucket}/${key}`) }]
  if (method === 'HEAD') return [listing(bucket)]
  if (method === 'PUT') return [{ action: 's3:CreateBucket', resource: arn(bucket) }]
  if (method === 'DELETE') return [{ action: 's3:DeleteBucket', resource: arn(bucket) }]
  if (method === 'POST')
    return textsOf(call.body.toString('utf8'), 'Key').map((each) => ({
      action: 's3:DeleteObject',
      resource: arn(`${bucket}/${each}`),
    }))
  if (query.has('location')) return [{ action: 's3:GetBucketLocation', resource: arn(bucket) }]
  return [listing(bucket, query.get('prefix') ?? '')]
}

function objectAction(method: string, query: Call['query']): string {
  if (method === 'GET' || method === 'HEAD') return 's3:GetObject'
  if (method !== 'DELETE') return 's3:PutObject'
  return query.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject'
}
