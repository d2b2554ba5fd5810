import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A listening server of the embedded stack. */
export interface Running {
  /** Base address, without a slash at its end. */
  url: string
  port: number
  close(): Promise<void>
}

/** Listens on the loopback address. Port 0 takes a free port. Errors: `EADDRINUSE` when the port is busy. */
export async function listen(
  server: Server,
  options: { port?: number; scheme?: 'http' | 'https' } = {},
): Promise<Running> {
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
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export class BodyTooLarge extends Error {}

/** Reads the whole body of a request. Errors: `BodyTooLarge` when it has more than `limit` bytes. */
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
