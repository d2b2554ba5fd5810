import { parseArgs } from 'node:util'
import { serve } from '@hono/node-server'
import { proxy } from 'hono/proxy'
import { readConsoleFiles } from '../../src/runtime/console-files.ts'
import { buildConsole, DIST } from './build.ts'

const HELP = `Serves the console while it is worked on: it is built again whenever its page is loaded.

Usage: npm run console:dev [-- options]

  --api <url>      the core whose API is used (default http://127.0.0.1:8000, as npm start starts it)
  --port <port>    default 5173
  --help`

/** Forwards a request to the core, without its host. */
const forward = (api: string, path: string, raw: Request): Promise<Response> =>
  proxy(api + path, { raw, redirect: 'manual', headers: { ...Object.fromEntries(raw.headers), host: undefined } })

async function serveConsole(path: string): Promise<Response> {
  const isPage = !path.includes('.')
  if (isPage) await buildConsole({ minify: false })
  const file = (await readConsoleFiles(DIST))?.get(isPage ? 'index.html' : path)
  if (!file) return new Response(null, { status: 404 })
  return new Response(file.identity, { headers: { 'content-type': file.content_type, 'cache-control': 'no-store' } })
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
  const answer = (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    const isOwn = pathname.startsWith('/console/') && pathname !== '/console/config.json'
    return isOwn ? serveConsole(pathname.slice('/console/'.length)) : forward(values.api, pathname + search, request)
  }
  const fetch = (request: Request) => answer(request).catch((error) => new Response(String(error), { status: 502 }))
  serve({ fetch, hostname: '127.0.0.1', port: Number(values.port) }, () =>
    console.log(`the console: http://127.0.0.1:${values.port}/console/   (API: ${values.api})`),
  )
}
