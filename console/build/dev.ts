import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { readConsoleFiles } from '../../src/runtime/console-files.ts'
import { buildConsole, DIST } from './build.ts'

const HELP = `Serves the console while it is worked on: it is built again whenever its page is loaded.

Usage: npm run console:dev [-- options]

  --api <url>      the core whose API is used (default http://127.0.0.1:8000, as npm start starts it)
  --port <port>    default 5173
  --help`

const HOP_BY_HOP = new Set(['connection', 'host', 'transfer-encoding', 'content-encoding', 'content-length'])

/** Forwards a request to the core and streams the answer back. */
async function forward(api: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name)) as [string, string][]
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const answer = await fetch(api + request.url, {
    method: request.method,
    headers,
    redirect: 'manual',
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
  })
  response.writeHead(answer.status, [...answer.headers].filter(([name]) => !HOP_BY_HOP.has(name)).flat())
  if (answer.body) await pipeline(Readable.fromWeb(answer.body), response)
  else response.end()
}

async function serveConsole(path: string, response: ServerResponse): Promise<void> {
  const isPage = !path.includes('.')
  if (isPage) await buildConsole({ minify: false })
  const file = (await readConsoleFiles(DIST))?.get(isPage ? 'index.html' : path)
  if (!file) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': file.content_type, 'cache-control': 'no-store' }).end(file.identity)
}

const { values } = parseArgs({
  options: {
    api: { type: 'string', default: 'http://127.0.0.1:8000' },
    port: { type: 'string', default: '5173' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) console.log(HELP)
else {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const own = path.startsWith('/console/') && path !== '/console/config.json'
    const work = own ? serveConsole(path.slice('/console/'.length), response) : forward(values.api, request, response)
    work.catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' })
      response.end(error instanceof Error ? error.message : String(error))
    })
  })
  server.listen(Number(values.port), '127.0.0.1', () =>
    console.log(`the console: http://127.0.0.1:${values.port}/console/   (API: ${values.api})`),
  )
}
