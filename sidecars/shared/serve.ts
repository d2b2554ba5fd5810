import { createAdaptorServer } from '@hono/node-server'

export interface RunningServer {
  /** `http://<host>:<port>` as bound. */
  url: string
  /** Takes no new connection, ends idle ones and resolves when the open requests are answered. */
  close(): Promise<void>
}

/** Serves a fetch handler on Node; rejects when the port cannot be bound. */
export async function serve(options: {
  fetch: (request: Request) => Response | Promise<Response>
  host: string
  port: number
}): Promise<RunningServer> {
  const server = createAdaptorServer({ fetch: options.fetch })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeIdleConnections' in server) server.closeIdleConnections()
      }),
  }
}
