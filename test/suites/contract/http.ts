import type { IncomingMessage, Server, ServerResponse } from 'node:http'

export interface Listening {
  url: string
  close(): Promise<void>
}

/** A server on a free port of this machine. */
export async function listening(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const readJson = async (request: IncomingMessage): Promise<unknown> =>
  JSON.parse((await readBytes(request)).toString('utf8') || 'null')

export const sendJson = (response: ServerResponse, status: number, body: unknown, type = 'application/json'): void =>
  void response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))
