import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A listening server of the embedded stack. */
export interface Running {
  /** Base address without trailing slash. */
  url: string
  port: number
  close(): Promise<void>
}

/** Binds to the loopback address. `port` 0 takes a free one; a busy port rejects with `EADDRINUSE`. */
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

/** The whole request body. Throws `BodyTooLarge` above `limit` bytes. */
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
