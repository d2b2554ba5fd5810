import { answerBucket, listBuckets } from './buckets.ts'
import type { Disk } from './disk.ts'
import type { Uploads } from './multipart.ts'
import { answerObject } from './objects.ts'
import { decodePayload } from './payload.ts'
import { type Credentials, decode, parseQuery, type SignedRequest, verifySignature } from './signature.ts'
import type { Answer, Call } from './types.ts'

/** Checks the signature of a request and then answers it. Errors: `S3Error`. */
export async function answer(
  store: { disk: Disk; uploads: Uploads; credentials: Credentials; now: () => Date },
  request: SignedRequest,
  readBody: () => Promise<Buffer<ArrayBuffer>>,
): Promise<Answer> {
  const accepted = verifySignature(request, store.credentials, store.now())
  const body = decodePayload(await readBody(), request.headers, accepted)
  const [, bucket = '', ...rest] = request.path.split('/')
  const query = new Map(parseQuery(request.query).filter(([name]) => !name.startsWith('X-Amz-') && name !== 'x-id'))
  const call: Call = {
    method: request.method,
    bucket: decode(bucket),
    key: rest.map(decode).join('/'),
    query,
    headers: request.headers,
    body,
  }
  if (call.bucket === '') return listBuckets(store.disk, store.credentials.access_key)
  return call.key === '' ? answerBucket(store.disk, call) : answerObject(store.disk, store.uploads, call)
}
