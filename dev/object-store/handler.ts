import type { ServerAnswer, ServerRequest } from '../server.ts'
import { answerBucket, listBuckets } from './buckets.ts'
import type { Disk } from './disk.ts'
import type { Uploads } from './multipart.ts'
import { answerObject } from './objects.ts'
import { decodePayload } from './payload.ts'
import { assertAllowed, mayLearnAbsence } from './policy.ts'
import { type Call, denied, S3Error, toXml } from './s3.ts'
import {
  type Credentials,
  decode,
  parseQuery,
  type SignedRequest,
  sha256,
  verifyServiceSignature,
  verifySignature,
} from './signature.ts'
import { assumeRole, findSigner, type Signer } from './temporary-keys.ts'

interface Store {
  disk: Disk
  uploads: Uploads
  credentials: Credentials
  now: () => Date
}

/** Verifies and answers a request. `POST /` is the token service. Errors: `S3Error`. */
export async function answer(store: Store, request: ServerRequest): Promise<ServerAnswer> {
  const signer = findSigner(request, store.credentials, store.now())
  if (request.method === 'POST' && request.path === '/')
    return answerTokenService(signer, request, await request.body(), store.now())
  const accepted = verifySignature(request, signer, store.now())
  const body = decodePayload(await request.body(), request.headers, accepted)
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
  if (signer.policy !== null) assertAllowed(signer.policy, call)
  try {
    return await answerCall(store, call)
  } catch (error) {
    const isMissing = error instanceof S3Error && error.code === 'NoSuchKey'
    if (isMissing && signer.policy !== null && !mayLearnAbsence(signer.policy, call)) throw denied()
    throw error
  }
}

async function answerCall(store: Store, call: Call): Promise<ServerAnswer> {
  if (call.bucket === '') return listBuckets(store.disk, store.credentials.access_key)
  return call.key === '' ? answerBucket(store.disk, call) : answerObject(store.disk, store.uploads, call)
}

const STS_NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/'

function answerTokenService(signer: Signer, request: SignedRequest, body: Buffer, now: Date): ServerAnswer {
  verifyServiceSignature(request, signer, now, { service: 'sts', payloadHash: sha256(body) })
  const keys = assumeRole(signer, new URLSearchParams(body.toString('utf8')), now)
  const credentials = {
    AccessKeyId: keys.access_key,
    SecretAccessKey: keys.secret_key,
    SessionToken: keys.session_token,
    Expiration: keys.expires.toISOString(),
  }
  const text = toXml('AssumeRoleResponse', { AssumeRoleResult: { Credentials: credentials } }, STS_NAMESPACE)
  return { status: 200, headers: { 'content-type': 'text/xml' }, body: text }
}
