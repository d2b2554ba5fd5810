import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDisk } from './object-store/disk.ts'
import { S3Error } from './object-store/errors.ts'
import { answer } from './object-store/handler.ts'
import { createUploads } from './object-store/multipart.ts'
import type { Answer } from './object-store/types.ts'
import { toXml } from './object-store/xml.ts'
import { BodyTooLarge, listen, type Running, readBody } from './server.ts'

export interface ObjectStoreOptions {
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

/** Largest body of a request. No artifact or state that the platform writes is as large. */
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
  const server = createServer(async (request, response) => {
    const cors = corsHeaders(request, origins)
    if (request.method === 'OPTIONS') return preflight(request, response, cors)
    try {
      const [path = '/', query = ''] = splitUrl(request.url ?? '/')
      const signed = { method: request.method ?? 'GET', path, query, headers: flat(request) }
      reply(response, await answer(store, signed, () => readBody(request, BODY_LIMIT)), cors)
    } catch (error) {
      reply(response, failure(error, request), cors)
    }
  })
  const running = await listen(server, { port: options.port })
  return {
    ...running,
    close: async () => {
      await running.close()
      if (!options.data_dir) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const splitUrl = (url: string): string[] => {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

function flat(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(',') : (value ?? '')
  return headers
}

function failure(error: unknown, request: IncomingMessage): Answer {
  const s3Error =
    error instanceof S3Error
      ? error
      : error instanceof BodyTooLarge
        ? new S3Error(400, 'EntityTooLarge', error.message)
        : new S3Error(500, 'InternalError', error instanceof Error ? error.message : 'unknown error')
  const body = toXml('Error', {
    Code: s3Error.code,
    Message: s3Error.message,
    Resource: (request.url ?? '').split('?')[0] ?? '',
  })
  const headers: Record<string, string> = { 'content-type': 'application/xml' }
  if (error instanceof BodyTooLarge) headers.connection = 'close'
  return { status: s3Error.status, headers, body: request.method === 'HEAD' ? undefined : Buffer.from(body) }
}

function reply(response: ServerResponse, { status, headers, body }: Answer, cors: Record<string, string>): void {
  const exposed = [...EXPOSED, ...Object.keys(headers).filter((name) => name.startsWith('x-amz-meta-'))]
  const shared = cors['access-control-allow-origin']
    ? { ...cors, 'access-control-expose-headers': [...new Set(exposed)].join(', ') }
    : cors
  const length = headers['content-length'] ?? String(body?.length ?? 0)
  const own = status === 204 || status === 304 ? {} : { 'content-length': length }
  response.writeHead(status, { ...headers, ...own, ...shared, server: 'platform-object-store' })
  response.end(body)
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

function corsHeaders(request: IncomingMessage, origins: readonly string[]): Record<string, string> {
  const { origin } = request.headers
  if (!origin) return {}
  if (origins.includes('*')) return { 'access-control-allow-origin': '*' }
  return origins.includes(origin) ? { 'access-control-allow-origin': origin, vary: 'Origin' } : { vary: 'Origin' }
}

function preflight(request: IncomingMessage, response: ServerResponse, cors: Record<string, string>): void {
  const method = request.headers['access-control-request-method'] ?? ''
  if (!cors['access-control-allow-origin'] || !['GET', 'HEAD'].includes(method)) {
    response.writeHead(403, cors).end()
    return
  }
  response.writeHead(200, {
    ...cors,
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? 'range',
    'access-control-max-age': '600',
    'content-length': '0',
  })
  response.end()
}
