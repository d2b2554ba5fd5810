import { type Context, Hono } from 'hono'
import type { ConsoleFile, ConsoleFiles } from '../../src/data/console-files.ts'
import type { CoreContext } from '../context.ts'
import type { AppEnv } from '../env.ts'
import { consolePolicy } from './policy.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
/** A path of the application, which the page itself resolves; a name with a dot is a file that should exist. */
const APPLICATION = /^[^.]*$/

/**
 * The console below `/console/`. `GET /` of a browser leads there. Files that are named by their content are kept by
 * browsers for good; the page that names them is asked for each time.
 */
export function createConsoleRoutes(config: CoreContext['config'], files: ConsoleFiles): Hono<AppEnv> {
  const routes = new Hono<AppEnv>()
  const headers = {
    'content-security-policy': consolePolicy(config),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  }
  const settings = JSON.stringify({ api_url: '/api/v1', examples: config.http.console_examples })
  routes.get('/', (c, next) => (wantsPage(c) ? c.redirect('/console/', 302) : next()))
  routes.get('/console', (c) => c.redirect('/console/', 308))
  routes.get('/console/config.json', (c) => c.body(settings, 200, { 'content-type': 'application/json' }))
  routes.get('/console/:path{.*}', (c) => {
    const path = c.req.param('path')
    const file = files.get(path === '' ? 'index.html' : path)
    if (file && path.startsWith('assets/')) return answer(c, file, { 'cache-control': IMMUTABLE })
    if (file) return answer(c, file, headers)
    const page = files.get('index.html')
    return page && APPLICATION.test(path) ? answer(c, page, headers) : c.notFound()
  })
  return routes
}

const wantsPage = (c: Context<AppEnv>): boolean => /\btext\/html\b/.test(c.req.header('accept') ?? '')

function answer(c: Context<AppEnv>, file: ConsoleFile, headers: Record<string, string>): Response {
  const accepted = c.req.header('accept-encoding') ?? ''
  const encoding = (['br', 'gzip'] as const).find((name) => file[name] && new RegExp(`\\b${name}\\b`).test(accepted))
  c.header('content-type', file.content_type)
  c.header('vary', 'Accept-Encoding', { append: true })
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (encoding) c.header('content-encoding', encoding)
  return c.body((encoding && file[encoding]) || file.identity)
}
