import { Hono } from 'hono'
import { withTimeLimit } from '../src/base/time.ts'
import { WITHOUT_CACHE } from '../src/data/cache/store.ts'
import { WITHOUT_STORE } from '../src/data/storage/watch.ts'
import type { AppEnv, CoreContext } from './env.ts'

const LIMIT_MS = 2_000
/** Supervisors wait for one second (Kubernetes) or two (HAProxy), and none may give up a core for its cache. */
const CACHE_LIMIT_MS = 500

/** The parts without which the core still answers, and what is missing meanwhile. */
const DISPENSABLE: Record<string, string> = { cache: WITHOUT_CACHE, storage: WITHOUT_STORE }

/**
 * Creates the routes for supervisors: `/healthz` reports that the process is alive, `/readyz` which of its parts answer.
 * Without cache or object store the core is ready and says what that costs: all cores share them, so that otherwise
 * none would be left. The routes are outside of `/api` and need no authentication.
 */
export function createHealthRoutes(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const parts = await checkParts(c.var.platform)
    const failed = Object.keys(parts).filter((name) => parts[name] !== 'ok')
    if (failed.length === 0) return c.json({ status: 'ok', parts })
    if (failed.some((name) => !(name in DISPENSABLE))) return c.json({ status: 'unavailable', parts }, 503)
    return c.json({
      status: 'degraded',
      parts,
      effects: Object.fromEntries(failed.map((name) => [name, DISPENSABLE[name]])),
    })
  })
  return app
}

async function checkParts(platform: CoreContext): Promise<Record<string, 'ok' | 'failed'>> {
  const checks: Record<string, () => Promise<boolean>> = {
    database: async () => (await platform.sql`SELECT 1`).length === 1,
    cache: () => platform.cache.ping().then(() => true),
    queue: () => platform.queue.healthy(),
    storage: async () => platform.storage.isOn(),
  }
  const outcomes = Object.entries(checks).map(async ([name, check]): Promise<[string, 'ok' | 'failed']> => {
    const limit = name === 'cache' ? CACHE_LIMIT_MS : LIMIT_MS
    try {
      const healthy = await withTimeLimit(limit, check(), () => new Error(`no answer within ${limit} ms`))
      return [name, healthy ? 'ok' : 'failed']
    } catch (error) {
      // The cache logs its own outage, once.
      if (name !== 'cache') platform.log.warn('readiness check failed', { part: name, error })
      return [name, 'failed']
    }
  })
  return Object.fromEntries(await Promise.all(outcomes))
}
