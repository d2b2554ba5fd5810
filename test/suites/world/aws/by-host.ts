import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Fetch } from '../../../../src/base/http.ts'

/** `fetch` that sends every request to the server at this address, with the host name that it was meant for. */
export const byHost =
  (server: string): Fetch =>
  async (input, init) => {
    const { url, method, headers, body } = new Request(input, init)
    const bytes = body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined
    const { host, pathname, search } = new URL(url)
    const { hostname, port } = new URL(server)
    const fields = { ...Object.fromEntries(headers), host, 'content-length': String(bytes?.length ?? 0) }
    const outgoing = request({ host: hostname, port, path: `${pathname}${search}`, method, headers: fields })
    outgoing.end(bytes)
    const [answer]: IncomingMessage[] = await once(outgoing, 'response')
    if (!answer) throw new Error('no answer')
    const content = Buffer.concat(await answer.toArray())
    const named = Object.entries(answer.headers).map(([key, value]): [string, string] => [key, String(value)])
    return new Response(content.length > 0 ? content : null, { status: answer.statusCode, headers: named })
  }
