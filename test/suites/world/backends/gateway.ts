import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

const DAY_MS = 86_400_000

/**
 * Starts a proxy that answers for public hosts itself, with a certificate of its own, so that backends are written as
 * in a repository. A host without an answer is reached, and never answers.
 * @param answers by name of a host
 * @returns `host` of the proxy, and the PEM text of the authority; `seen` has host, method and path of every request
 */
export async function startGateway(answers: Record<string, RequestListener>) {
  const seen: string[] = []
  const { ca, cert, key } = await certify(Object.keys(answers))
  const secure = createSecureServer({ cert, key }, (incoming, response) => {
    const name = incoming.headers.host ?? ''
    seen.push(`${name} ${incoming.method} ${incoming.url}`)
    answers[name]?.(incoming, response)
  })
  const proxy = createServer().on('connect', ({ url = '' }: IncomingMessage, socket) => {
    seen.push(`CONNECT ${url}`)
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    if (answers[url.replace(/:443$/, '')]) secure.emit('connection', socket)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, ca, seen, close: () => proxy.close() }
}

/** Passes requests on to a server at this port of the loopback address, which still sees the public host. */
export const passTo =
  (port: number): RequestListener =>
  (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url: path, headers } = incoming
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  }

async function certify(names: string[]) {
  const now = Date.now()
  const period = { notBeforeDate: new Date(now - DAY_MS), notAfterDate: new Date(now + DAY_MS) }
  const shape = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', ...period } as const
  const authority = await generate([{ name: 'commonName', value: 'Authority of the test' }], {
    ...shape,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  const server = await generate([{ name: 'commonName', value: 'gateway' }], {
    ...shape,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2 as const, value })) },
    ],
  })
  return { ca: authority.cert, cert: server.cert, key: server.private }
}
