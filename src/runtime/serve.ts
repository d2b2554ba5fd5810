import type { AddressInfo } from 'node:net'
import { createAdaptorServer, getRequestListener } from '@hono/node-server'

/** @param peer remote address of the connection, in the form of the runtime; null when unknown */
type Handler = (request: Request, peer: string | null) => Answer

export interface Running {
  /** `http://<host>:<port>` with the actual port, also when port 0 was requested. */
  url: string
  /**
   * Stops accepting connections and waits for the open ones; closes them after `limitMs`.
   * @param after the limit counts from the end of this work, which open requests may wait for
   */
  close(limitMs: number, after?: Promise<unknown>): Promise<void>
}

export interface ListenAddress {
  /** With 0 the system chooses a free port. */
  port: number
  hostname: string
}

/** The parts of Deno and Bun that are used. Their own types are not part of this project. */
interface DenoServer {
  addr: { port: number }
  shutdown(): Promise<void>
}
interface BunServer {
  port: number
  stop(now?: boolean): Promise<void>
  requestIP(request: Request): { address: string } | null
}
type Answer = Response | Promise<Response>
interface Deno {
  serve(
    options: ListenAddress & { signal: AbortSignal; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Answer,
  ): DenoServer
}
interface Bun {
  serve(
    options: ListenAddress & { idleTimeout: number; fetch: (request: Request, server: BunServer) => Answer },
  ): BunServer
}

/** Opens a port on the current runtime: Node, Deno or Bun. Throws when the port cannot be opened. */
export async function serve(handler: Handler, options: ListenAddress): Promise<Running> {
  const { Deno, Bun } = globalThis as { Deno?: Deno; Bun?: Bun }
  if (Deno) return serveOnDeno(Deno, handler, options)
  if (Bun) return serveOnBun(Bun, handler, options)
  return serveOnNode(handler, options)
}

/**
 * Returns the class of responses that the server of this runtime sends with the least work. On Node it is that of the
 * server library, which writes a text without making a stream of it. The library gives it out only by replacing the
 * globals, so these are put back at once: as globals its responses would be in the way of code that checks for real ones.
 */
export function responseClass(): typeof Response {
  if ('Deno' in globalThis || 'Bun' in globalThis) return Response
  const globals = ['Request', 'Response'].map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  )
  getRequestListener(() => new Response(), { overrideGlobalObjects: true })
  const { Response: Answer } = globalThis
  for (const [name, own] of globals) if (own) Object.defineProperty(globalThis, name, own)
  return Answer
}

/**
 * Maximum bytes of the request headers on Node. By default Node answers a token of more than about 16 KiB with an empty
 * 431. Up to this limit the token reaches the core, which answers 401 as for any invalid one.
 */
const MAX_HEADER_BYTES = 64 * 1024

const authorityOf = (hostname: string) => (hostname.includes(':') ? `[${hostname}]` : hostname)
const formatUrl = (hostname: string, port: number) => `http://${authorityOf(hostname)}:${port}`

async function serveOnNode(handler: Handler, { port, hostname }: ListenAddress): Promise<Running> {
  // Without `overrideGlobalObjects: false` the library would replace the global Request and Response.
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => handler(request, incoming.socket.remoteAddress ?? null),
    overrideGlobalObjects: false,
    // Requests of HTTP/1.0, as health checks of load balancers send them, need not name a host.
    hostname: authorityOf(hostname),
    serverOptions: { maxHeaderSize: MAX_HEADER_BYTES },
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, hostname, resolve)
  })
  return {
    url: formatUrl(hostname, (server.address() as AddressInfo).port),
    close: async (limitMs, after) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      const cut = () => {
        if ('closeAllConnections' in server) server.closeAllConnections()
      }
      await cutLate(closed, { limitMs, after, cut })
    },
  }
}

function serveOnDeno(deno: Deno, handler: Handler, options: ListenAddress): Running {
  const controller = new AbortController()
  const server = deno.serve({ ...options, signal: controller.signal, onListen: () => {} }, (request, info) =>
    handler(request, info.remoteAddr.hostname ?? null),
  )
  return {
    url: formatUrl(options.hostname, server.addr.port),
    close: (limitMs, after) => cutLate(server.shutdown(), { limitMs, after, cut: () => controller.abort() }),
  }
}

/** Serves on Bun, where `idleTimeout: 0` turns off the default of closing connections after ten silent seconds. */
function serveOnBun(bun: Bun, handler: Handler, options: ListenAddress): Running {
  const server = bun.serve({
    ...options,
    idleTimeout: 0,
    fetch: (request, self) => handler(withAuthority(request), self.requestIP(request)?.address ?? null),
  })
  // Without a `Host` header, Bun gives the path alone as the address of a request.
  const withAuthority = (request: Request) =>
    URL.canParse(request.url)
      ? request
      : new Request(new URL(request.url, formatUrl(options.hostname, server.port)), request)
  return {
    url: formatUrl(options.hostname, server.port),
    close: (limitMs, after) => cutLate(server.stop(), { limitMs, after, cut: () => void server.stop(true) }),
  }
}

/** Waits for `closed` within the limit, which counts from the end of `after`; then calls `cut`. */
async function cutLate(
  closed: Promise<void>,
  { limitMs, after, cut }: { limitMs: number; after: Promise<unknown> | undefined; cut: () => void },
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  const limit = async () => {
    await after?.catch(() => {})
    if (isClosed) return
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs)
    })
    cut()
  }
  await Promise.race([closed, limit()])
  isClosed = true
  clearTimeout(timer)
}
