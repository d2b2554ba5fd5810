import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A listening server of the embedded stack. */
export interface Running {
  /** Base address, without a trailing slash. */
  url: string
  port: number
  close(): Promise<void>
}

/** Listens on the loopback address. Port 0 means a free port. Errors: `EADDRINUSE`. */
export async function listen(server: Server, options: { port?: number; scheme?: 'http' | 'https' } = {}) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.scheme ?? 'http'}://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface ServerRequest {
  method: string
  /** Path and query exactly as received. */
  path: string
  query: string
  /** Repeated headers have their values joined by commas. */
  headers: Record<string, string>
  /** Throws `BodyTooLarge`. */
  body(): Promise<Buffer<ArrayBuffer>>
  /** Fires when the caller has gone before the answer was sent. */
  gone: AbortSignal
}
export interface ServerAnswer {
  status: number
  headers?: Record<string, string>
  /** An object is sent as JSON, the texts of an iterable as they come. */
  body?: Buffer | string | object | AsyncIterable<string> | undefined
}

/**
 * Starts a server whose answers are values.
 * @param options.fail makes the answer for an exception of `respond`
 */
export const startServer = (options: {
  port?: number | undefined
  maxBodyBytes: number
  respond(request: ServerRequest): Promise<ServerAnswer> | ServerAnswer
  fail(error: unknown, request: ServerRequest): ServerAnswer
}): Promise<Running> =>
  listen(
    createServer(async (incoming, response) => {
      const gone = new AbortController()
      response.once('close', () => {
        if (!response.writableFinished) gone.abort()
      })
      const request = { ...requestOf(incoming, options.maxBodyBytes), gone: gone.signal }
      try {
        await send(response, await options.respond(request))
      } catch (error) {
        if (error instanceof BodyTooLarge) response.setHeader('connection', 'close')
        await send(response, options.fail(error, request))
      }
    }),
    { ...(options.port !== undefined && { port: options.port }) },
  )

function requestOf(incoming: IncomingMessage, maxBodyBytes: number): Omit<ServerRequest, 'gone'> {
  const url = incoming.url ?? '/'
  const at = url.indexOf('?')
  return {
    method: incoming.method ?? 'GET',
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? '' : url.slice(at + 1),
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body: () => readBody(incoming, maxBodyBytes),
  }
}

async function send(response: ServerResponse, { status, headers = {}, body }: ServerAnswer): Promise<void> {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return void response.end(body)
  // A reader who leaves ends the texts; nobody is left who could be told.
  if (Symbol.asyncIterator in body) return await pipeline(Readable.from(body), response).catch(() => {})
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

export class BodyTooLarge extends Error {}

/** Reads the whole body of a request. Errors: `BodyTooLarge` if it has more than `limit` bytes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new BodyTooLarge(`the body is larger than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const digest = (text: string) => createHash('sha256').update(text).digest()
/** True if the header `Authorization` has this bearer token. */
export const isAuthorized = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
