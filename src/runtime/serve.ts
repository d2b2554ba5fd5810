import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'

/** @param peer address of the other end of the connection, in the form of the runtime; null when it is not known */
type Handler = (request: Request, peer: string | null) => Response | Promise<Response>

export interface Running {
  /** `http://<host>:<port>` with the port that was opened, also when port 0 was asked for. */
  url: string
  /**
   * Takes no further connections and waits for those that are open; cuts them after `limitMs`.
   * @param after the limit counts from the end of this work, which open requests may wait for
   */
  close(limitMs: number, after?: Promise<unknown>): Promise<void>
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
interface OtherRuntimes {
  Deno?: {
    serve(
      options: { port: number; hostname: string; signal: AbortSignal; onListen: () => void },
      handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Response | Promise<Response>,
    ): DenoServer
  }
  Bun?: {
    serve(options: {
      port: number
      hostname: string
      idleTimeout: number
      fetch: (request: Request, server: BunServer) => Response | Promise<Response>
    }): BunServer
  }
}

/** Opens a port on the present runtime: Node, Deno or Bun. Errors: the port cannot be opened. */
export async function serve(handler: Handler, options: { port: number; hostname: string }): Promise<Running> {
  const { Deno, Bun } = globalThis as OtherRuntimes
  if (Deno) return serveOnDeno(Deno, handler, options)
  if (Bun) return serveOnBun(Bun, handler, options)
  return serveOnNode(handler, options)
}

/**
 * The most bytes that the headers of a request may have on Node. By default it answers a token of more than about
 * 16 KiB with an empty 431. Up to this limit the token reaches the core, which answers 401 as for any invalid one.
 */
const MAX_HEADER_BYTES = 64 * 1024

const formatUrl = (hostname: string, port: number) =>
  `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`

async function serveOnNode(handler: Handler, { port, hostname }: { port: number; hostname: string }): Promise<Running> {
  // Without `overrideGlobalObjects: false` the library would replace the global Request and Response.
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => handler(request, incoming.socket.remoteAddress ?? null),
    overrideGlobalObjects: false,
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

function serveOnDeno(
  deno: NonNullable<OtherRuntimes['Deno']>,
  handler: Handler,
  options: { port: number; hostname: string },
): Running {
  const controller = new AbortController()
  const server = deno.serve({ ...options, signal: controller.signal, onListen: () => {} }, (request, info) =>
    handler(request, info.remoteAddr.hostname ?? null),
  )
  return {
    url: formatUrl(options.hostname, server.addr.port),
    close: (limitMs, after) => cutLate(server.shutdown(), { limitMs, after, cut: () => controller.abort() }),
  }
}

/** Bun closes a connection after ten seconds of silence by default, which `idleTimeout: 0` turns off. */
function serveOnBun(
  bun: NonNullable<OtherRuntimes['Bun']>,
  handler: Handler,
  options: { port: number; hostname: string },
): Running {
  const server = bun.serve({
    ...options,
    idleTimeout: 0,
    fetch: (request, self) => handler(request, self.requestIP(request)?.address ?? null),
  })
  return {
    url: formatUrl(options.hostname, server.port),
    close: (limitMs, after) => cutLate(server.stop(), { limitMs, after, cut: () => void server.stop(true) }),
  }
}

/** Waits for `closed`, but no longer than the limit, which counts from the end of `after`; calls `cut` then. */
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
