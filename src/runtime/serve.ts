import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'

type Handler = (request: Request) => Response | Promise<Response>

export interface Running {
  /** `http://<host>:<port>` with the port that was really opened. */
  url: string
  /**
   * Takes no further connections and waits for those that are open; cuts them after `limitMs`.
   * @param after the limit counts from the end of this work, which open requests may wait for
   */
  close(limitMs: number, after?: Promise<unknown>): Promise<void>
}

/** What of the other runtimes is used; their own types are not part of this project. */
interface DenoServer {
  addr: { port: number }
  shutdown(): Promise<void>
}
interface OtherRuntimes {
  Deno?: {
    serve(
      options: { port: number; hostname: string; signal: AbortSignal; onListen: () => void },
      handler: Handler,
    ): DenoServer
  }
  Bun?: {
    serve(options: { port: number; hostname: string; idleTimeout: number; fetch: Handler }): {
      port: number
      stop(now?: boolean): Promise<void>
    }
  }
}

/**
 * Opens the port on whatever runtime this is: Node, Deno or Bun.
 * Errors: the port cannot be opened.
 */
export async function serve(handler: Handler, options: { port: number; hostname: string }): Promise<Running> {
  const { Deno, Bun } = globalThis as OtherRuntimes
  if (Deno) return onDeno(Deno, handler, options)
  if (Bun) return onBun(Bun, handler, options)
  return onNode(handler, options)
}

/** Node's own limit would answer a long token with a bare 431; ours says 401 in the usual envelope. */
const MAX_HEADER_BYTES = 64 * 1024

const formatUrl = (hostname: string, port: number) =>
  `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`

async function onNode(handler: Handler, { port, hostname }: { port: number; hostname: string }): Promise<Running> {
  // The global Request and Response stay what they are.
  const server = createAdaptorServer({
    fetch: handler,
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

function onDeno(
  deno: NonNullable<OtherRuntimes['Deno']>,
  handler: Handler,
  options: { port: number; hostname: string },
): Running {
  const controller = new AbortController()
  const server = deno.serve({ ...options, signal: controller.signal, onListen: () => {} }, handler)
  return {
    url: formatUrl(options.hostname, server.addr.port),
    close: (limitMs, after) => cutLate(server.shutdown(), { limitMs, after, cut: () => controller.abort() }),
  }
}

/** Bun ends a silent connection after ten seconds unless told otherwise. */
function onBun(
  bun: NonNullable<OtherRuntimes['Bun']>,
  handler: Handler,
  options: { port: number; hostname: string },
): Running {
  const server = bun.serve({ ...options, idleTimeout: 0, fetch: (request) => handler(request) })
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
