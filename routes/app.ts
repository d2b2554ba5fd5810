import { Hono } from 'hono'
import { createRefusalCounter } from '../src/access/audit/refusals.ts'
import { createAuthenticator } from '../src/access/authenticate.ts'
import { createAddressReader } from '../src/access/caller-address.ts'
import { createGate } from '../src/base/gate.ts'
import { createStreamHost } from '../src/events/sse-stream.ts'
import { createConsoleRoutes } from './console/routes.ts'
import { createDocumentationRoutes } from './documentation.ts'
import { ENDPOINTS } from './endpoints.ts'
import type { AppEnv, CoreContext, Platform } from './env.ts'
import { type KnownPath, onError, onUnmatched } from './error-handler.ts'
import { createHealthRoutes } from './health.ts'
import { createEntrance } from './middleware.ts'
import { describeApi } from './openapi/document.ts'

const POLL_PERIOD_MS = 5_000
/** One reading takes up to 250 MB, and clients give up after 50 s, so a waiting one must leave time for itself. */
const REPOSITORY_READINGS = {
  atOnce: 2,
  waiting: 8,
  waitMs: 10_000,
  busy: 'Too many repositories are being read at this moment; please try again in 10 seconds.',
}
const PREFIXES = ['/api', '']

/**
 * Creates the HTTP interface of the core: the API below `/api/v1/`, the same below `/v1/` for proxies that strip the
 * prefix, the documentation, and the health routes. It uses web standards only, so that it runs on any runtime.
 */
export function createApp(context: CoreContext): Hono<AppEnv> {
  const platform: Platform = {
    ...context,
    authenticate: createAuthenticator(context),
    readAddress: createAddressReader(context.config.http.trusted_proxies),
    refusals: context.refusals ?? createRefusalCounter(context),
    streams: createStreamHost(context.events, POLL_PERIOD_MS, context.config.http.max_streams_per_user),
    repositoryGate: createGate(REPOSITORY_READINGS),
  }
  const app = new Hono<AppEnv>()
  app.use(createEntrance(platform))

  const api = new Hono<AppEnv>()
  for (const { route, path, handler } of ENDPOINTS) api.on(route.method, [path], handler)
  let description: string | null = null
  api.route(
    '/',
    createDocumentationRoutes(() => (description ??= describeApi(ENDPOINTS, context.config.version))),
  )

  for (const prefix of PREFIXES) app.route(prefix || '/', api)
  app.route('/', createHealthRoutes())
  if (context.console) app.route('/', createConsoleRoutes(context, context.console))
  app.notFound(onUnmatched(knownPaths()))
  app.onError(onError)
  return app
}

function knownPaths(): KnownPath[] {
  const published = [
    ...ENDPOINTS.map(({ route }) => ({ path: route.path, methods: [route.method.toUpperCase()] })),
    ...['/openapi.json', '/docs', '/redoc', '/docs/assets/{name}'].map((path) => ({ path, methods: ['GET', 'HEAD'] })),
  ]
  return [
    ...PREFIXES.flatMap((prefix) => published.map(({ path, methods }) => ({ path: prefix + path, methods }))),
    { path: '/healthz', methods: ['GET', 'HEAD'] },
    { path: '/readyz', methods: ['GET', 'HEAD'] },
  ]
}
