import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Disk, openDisk } from './object-store/disk.ts'
import { answerBucket, answerObject, type Uploads } from './object-store/requests.ts'
import { type Call, denied, S3Error, toXml } from './object-store/s3.ts'
import {
  type Credentials,
  decode,
  parseQuery,
  sha256,
  verifyHeader,
  verifySignature,
} from './object-store/signature.ts'
import { assertAllowed, assumeRole, findSigner, mayLearnAbsence, type Signer } from './object-store/temporary-keys.ts'
import { BodyTooLarge, type Running, type ServerAnswer, type ServerRequest, startServer } from './server.ts'

interface ObjectStoreOptions extends Credentials {
  port?: number
  /** Folder for the objects. Without it a temporary folder is used, which `close` removes. */
  data_dir?: string
  /** Origins of web pages that may read. The default is every origin. */
  cors_origins?: string[]
  now?: () => Date
}

/** Largest body of a request, more than any artifact or state of the platform. */
const BODY_LIMIT = 256 * 1024 * 1024

/**
 * Starts a server with a subset of S3 for one machine, with buckets in the path. It checks Signature Version 4 in
 * headers and in URLs, expiry and clock, and the hash and checksums of the payload. Objects are files on disk, which
 * are replaced atomically. `AssumeRole` gives temporary keys with a session policy, which every request then obeys.
 */
export async function startObjectStore(options: ObjectStoreOptions): Promise<Running> {
  const dataDir = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'platform-objects-')))
  const now = options.now ?? (() => new Date())
  const store: Store = { disk: await openDisk(dataDir, now), uploads: new Map(), credentials: options, now }
  const origins = options.cors_origins ?? ['*']
  const running = await startServer({
    port: options.port,
    maxBodyBytes: BODY_LIMIT,
    respond: async (request) =>
      request.method === 'OPTIONS'
        ? preflight(request, origins)
        : readable(await answer(store, request), request, origins),
    fail: (error, request) => readable(failure(error, request), request, origins),
  })
  return {
    ...running,
    close: async () => {
      await running.close()
      if (!options.data_dir) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

interface Store {
  disk: Disk
  uploads: Uploads
  credentials: Credentials
  now: () => Date
}

/** Verifies and answers a request. `POST /` is the token service. Errors: `S3Error`. */
async function answer(store: Store, request: ServerRequest): Promise<ServerAnswer> {
  const signer = findSigner(request, store.credentials, store.now())
  const { method, headers } = request
  if (method === 'POST' && request.path === '/') return answerTokenService(signer, request, store.now())
  const payloadHash = verifySignature(request, signer, store.now())
  const body = await request.body()
  checkPayload(body, payloadHash, headers)
  const [bucket = '', ...rest] = request.path.split('/').slice(1).map(decode)
  const query = new Map(parseQuery(request.query).filter(([name]) => !name.startsWith('X-Amz-') && name !== 'x-id'))
  const call: Call = { method, bucket, key: rest.join('/'), query, headers, body }
  if (signer.policy !== null) assertAllowed(signer.policy, call)
  try {
    return call.key === '' ? await answerBucket(store.disk, call) : await answerObject(store.disk, store.uploads, call)
  } catch (error) {
    const isMissing = error instanceof S3Error && error.code === 'NoSuchKey'
    if (isMissing && signer.policy !== null && !mayLearnAbsence(signer.policy, call)) throw denied()
    throw error
  }
}

async function answerTokenService(signer: Signer, request: ServerRequest, now: Date): Promise<ServerAnswer> {
  const body = await request.body()
  verifyHeader(request, signer, now, { service: 'sts', payloadHash: sha256(body) })
  const Credentials = assumeRole(signer, new URLSearchParams(body.toString('utf8')), now)
  const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/'
  const text = toXml('AssumeRoleResponse', { AssumeRoleResult: { Credentials } }, namespace)
  return { status: 200, headers: { 'content-type': 'text/xml' }, body: text }
}

const CHECKSUMS: Record<string, (body: Buffer) => string> = {
  'content-md5': (body) => createHash('md5').update(body).digest('base64'),
  'x-amz-checksum-sha256': (body) => createHash('sha256').update(body).digest('base64'),
  'x-amz-checksum-crc32': (body) => Buffer.from(crc32(body).toString(16).padStart(8, '0'), 'hex').toString('base64'),
}

/** Checks the signed hash of a body and the checksums in the headers. Errors: `S3Error`. */
function checkPayload(body: Buffer, payloadHash: string, headers: ServerRequest['headers']): void {
  if (payloadHash.startsWith('STREAMING-'))
    throw new S3Error(501, 'NotImplemented', 'Bodies in signed chunks are not implemented here.')
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && sha256(body) !== payloadHash)
    throw new S3Error(
      400,
      'XAmzContentSHA256Mismatch',
      'The provided x-amz-content-sha256 header does not match what was computed.',
    )
  for (const [name, compute] of Object.entries(CHECKSUMS))
    if (headers[name] !== undefined && headers[name] !== compute(body))
      throw new S3Error(400, 'BadDigest', `The ${name} you specified did not match the calculated checksum.`)
}

function failure(error: unknown, { method, path }: ServerRequest): ServerAnswer {
  const { status, code, message } =
    error instanceof S3Error
      ? error
      : error instanceof BodyTooLarge
        ? new S3Error(400, 'EntityTooLarge', error.message)
        : new S3Error(500, 'InternalError', error instanceof Error ? error.message : 'unknown error')
  const body = toXml('Error', { Code: code, Message: message, Resource: path })
  return { status, headers: { 'content-type': 'application/xml' }, body: method === 'HEAD' ? undefined : body }
}

/** Adds the headers that let web pages of these origins read an answer. */
function readable({ status, headers = {}, body }: ServerAnswer, request: ServerRequest, origins: readonly string[]) {
  const cors = corsHeaders(request, origins)
  const exposed = [...EXPOSED, ...Object.keys(headers).filter((name) => name.startsWith('x-amz-meta-'))]
  const shared = cors['access-control-allow-origin']
    ? { ...cors, 'access-control-expose-headers': [...new Set(exposed)].join(', ') }
    : cors
  return { status, headers: { ...headers, ...shared, server: 'platform-object-store' }, body }
}

/** Response headers that a web page may read, among them two metadata names that the web client needs. */
const EXPOSED = [
  'x-amz-meta-type',
  'x-amz-meta-new_file',
  'etag',
  'content-length',
  'content-range',
  'content-type',
  'last-modified',
]

function corsHeaders({ headers: { origin } }: ServerRequest, origins: readonly string[]): Record<string, string> {
  if (!origin) return {}
  if (origins.includes('*')) return { 'access-control-allow-origin': '*' }
  return origins.includes(origin) ? { 'access-control-allow-origin': origin, vary: 'Origin' } : { vary: 'Origin' }
}

function preflight(request: ServerRequest, origins: readonly string[]): ServerAnswer {
  const cors = corsHeaders(request, origins)
  const method = request.headers['access-control-request-method'] ?? ''
  if (!cors['access-control-allow-origin'] || !['GET', 'HEAD'].includes(method)) return { status: 403, headers: cors }
  const headers = {
    ...cors,
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? 'range',
    'access-control-max-age': '600',
  }
  return { status: 200, headers }
}
