import { type Context, Hono } from 'hono'
import { createGate } from '../../src/base/gate.ts'
import { type ConsoleFile, type ConsoleFiles, isHashedPath, readKeptFile } from '../../src/data/console-files.ts'
import type { AppEnv, CoreContext } from '../env.ts'
import { signInConfig } from '../v1/auth/config.get.ts'
import { createPolicy } from './policy.ts'

/** Workers follow the policy of their own script. */
const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; script-src 'self'",
  'cross-origin-resource-policy': 'same-origin',
}
const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
}
/** A path of the application, which the page itself resolves. A name with a dot is a file that should exist. */
const APPLICATION = /^[\w/-]*$/
/** Requests for made-up file names must not use up the database connections. */
const OLD_FILES = { atOnce: 2, waiting: 64, waitMs: 5_000, busy: 'Too many old files are being read at this moment.' }

/**
 * Creates the routes of the console below `/console/`. `GET /` of a browser redirects there. Browsers cache hashed
 * files permanently, and those of earlier builds are served from the database while it keeps them. Pages are never
 * cached, so that nothing of them remains after a sign-out.
 */
export function createConsoleRoutes(context: CoreContext, files: ConsoleFiles): Hono<AppEnv> {
  const routes = new Hono<AppEnv>()
  const policy = createPolicy(context)
  const gate = createGate(OLD_FILES)
  const settings = JSON.stringify({
    api_url: '/api/v1',
    examples: context.config.http.console_examples,
    auth: signInConfig(context),
    token: context.config.oidc.console_token,
  })
  const page = async (c: Context<AppEnv>, file: ConsoleFile) =>
    answer(c, file, { ...PAGE_HEADERS, 'content-security-policy': await policy() })

  routes.get('/', (c, next) => (wantsPage(c.req.header('accept') ?? '') ? c.redirect('/console/', 302) : next()))
  routes.get('/console', (c) => c.redirect(`/console/${new URL(c.req.url).search}`, 308))
  routes.get('/console/config.json', (c) => c.body(settings, 200, { 'content-type': 'application/json' }))
  routes.get('/console/:path{.*}', async (c) => {
    const path = c.req.path.slice('/console/'.length)
    const file = files.get(path === '' ? 'index.html' : path)
    if (isHashedPath(path)) {
      const found = file ?? (await gate.run(() => readKeptFile(context.sql, path), c.req.raw.signal))
      return found ? answer(c, found, ASSET_HEADERS) : c.notFound()
    }
    if (file) return page(c, file)
    const index = files.get('index.html')
    return index && APPLICATION.test(path) ? page(c, index) : c.notFound()
  })
  return routes
}

function answer(c: Context<AppEnv>, file: ConsoleFile, headers: Record<string, string>): Response {
  const encoding = chooseEncoding(file, c.req.header('accept-encoding') ?? '')
  c.header('content-type', file.content_type)
  c.header('vary', 'Accept-Encoding', { append: true })
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (encoding) c.header('content-encoding', encoding)
  return c.body((encoding && file[encoding]) || file.identity)
}

type Encoding = 'br' | 'gzip'

/** Chooses the stored encoding by the weights of `Accept-Encoding`, preferring brotli. */
function chooseEncoding(file: ConsoleFile, accepted: string): Encoding | null {
  const weights = readWeights(accepted)
  const weightOf = (name: Encoding) => (file[name] ? (weights.get(name) ?? weights.get('*') ?? 0) : 0)
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}

/** True if `Accept` asks for a page, as browsers do when they navigate. */
const wantsPage = (accept: string): boolean => (readWeights(accept).get('text/html') ?? 0) > 0

/** Parses a header with weights: `br;q=0.5, gzip`. The default weight is 1. */
function readWeights(header: string): Map<string, number> {
  const entries = header.split(',').map((entry): [string, number] => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
  })
  return new Map(entries)
}
