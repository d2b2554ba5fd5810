import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDisk } from './object-store/disk.ts'
import { answer } from './object-store/handler.ts'
import { createUploads } from './object-store/multipart.ts'
import { S3Error, toXml } from './object-store/s3.ts'
import { BodyTooLarge, type Running, type ServerAnswer, type ServerRequest, startServer } from './server.ts'

interface ObjectStoreOptions {
  port?: number
  /** Folder for the objects. Without it a temporary folder is used, which `close` removes. */
  data_dir?: string
  access_key: string
  secret_key: string
  /** The region that signatures must name. The default is any. */
  region?: string
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
  const store = { disk: await openDisk(dataDir, now), uploads: createUploads(), credentials: options, now }
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
function readable(
  { status, headers = {}, body }: ServerAnswer,
  request: ServerRequest,
  origins: readonly string[],
): ServerAnswer {
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
