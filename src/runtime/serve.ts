import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'

type Handler = (request: Request) => Response | Promise<Response>

export interface Running {
  /** `http://<host>:<port>` with the port that was really opened. */
  url: string
  /** Takes no further connections and waits for those that are open; cuts them after `limitMs`. */
  close(limitMs: number): Promise<void>
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

const address = (hostname: string, port: number) =>
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
    url: address(hostname, (server.address() as AddressInfo).port),
    close: async (limitMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await orAfter(limitMs, closed, () => {
        if ('closeAllConnections' in server) server.closeAllConnections()
      })
    },
  }
}

function onDeno(
  deno: NonNullable<OtherRuntimes['Deno']>,
  handler: Handler,
  options: { port: number; hostname: string },
): Running {
  const cut = new AbortController()
  const server = deno.serve({ ...options, signal: cut.signal, onListen: () => {} }, handler)
  return {
    url: address(options.hostname, server.addr.port),
    close: (limitMs) => orAfter(limitMs, server.shutdown(), () => cut.abort()),
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
    url: address(options.hostname, server.port),
    close: (limitMs) => orAfter(limitMs, server.stop(), () => void server.stop(true)),
  }
}

async function orAfter(limitMs: number, work: Promise<void>, late: () => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late()
      resolve()
    }, limitMs)
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
}
