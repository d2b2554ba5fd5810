import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const CLIENT_ID = 'console'
export const AUDIENCE = 'api://console'

export type Issuer = Awaited<ReturnType<typeof serveIssuer>>

/** Serves an OpenID provider, whose requests are recorded; `answer` answers them while it is not down. */
export async function serveIssuer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    issuer.asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    if (issuer.down) response.writeHead(503).end()
    else answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Methods and paths of requests, in order. */
    asked: [] as string[],
    /** The person who signs in next, and the answer to the consent. */
    person: { name: 'ada', agrees: true },
    /** Lifetime of access tokens in seconds. */
    lifetime: 300,
    /** True if refresh tokens are issued. */
    refresh: false,
    /** While true every answer is 503. */
    down: false,
    /** Ends every session and every grant, so that no token can be renewed. */
    forget: () => {},
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}
