import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listen } from '../../../../dev/server.ts'

/** Something in front of a store that passes everything on as it is, or answers in its place. */
export interface Relay {
  url: string
  /** Answers all requests in place of the store, until `pass`. */
  answer(status: number, code: string): void
  pass(): void
  /** How many requests were answered in place of the store. */
  readonly refused: number
  close(): Promise<void>
}

/** @param target URL of the store, which sees the host of the relay, as the signatures have it */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  let answer: { status: number; code: string } | null = null
  let refused = 0
  const passOn = (asked: IncomingMessage, told: ServerResponse) => {
    const { method, url: path, headers } = asked
    const sent = request({ hostname, port, method, path, headers, agent: false }, (answered) => {
      told.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(told)
    })
    sent.on('error', () => told.destroy())
    told.on('close', () => sent.destroy())
    asked.pipe(sent)
  }
  const server = createServer((asked, told) => {
    if (!answer) return passOn(asked, told)
    refused++
    asked.resume()
    told.writeHead(answer.status, { 'content-type': 'application/xml' })
    told.end(`<?xml version="1.0"?><Error><Code>${answer.code}</Code><Message>Please try again.</Message></Error>`)
  })
  const { url, close } = await listen(server)
  return {
    url,
    answer: (status, code) => {
      answer = { status, code }
    },
    pass: () => {
      answer = null
    },
    get refused() {
      return refused
    },
    close,
  }
}

/** Sends a request to a server under the name that its URL has, as a name server would lead it there. */
export function at(server: string, target: string, init: RequestInit = {}): Promise<Response> {
  const { hostname, port } = new URL(server)
  const { host, pathname, search } = new URL(target)
  return new Promise((resolve, reject) => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), host }
    const outgoing = request({ hostname, port, path: pathname + search, method: init.method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      answer.on('end', () => {
        const status = answer.statusCode ?? 0
        const body = status === 204 || init.method === 'HEAD' ? null : Buffer.concat(chunks)
        resolve(new Response(body, { status, headers: answer.headers as Record<string, string> }))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(init.body as Uint8Array | undefined)
  })
}
