import { Hono } from 'hono'
import { withTimeLimit } from '../src/base/time.ts'
import { WITHOUT_CACHE } from '../src/data/cache/store.ts'
import type { AppEnv, CoreContext } from './env.ts'

const LIMIT_MS = 2_000

/** The parts without which the core still answers everything, and what is missing meanwhile. */
const DISPENSABLE: Record<string, string> = { cache: WITHOUT_CACHE }

/**
 * Creates the routes for supervisors: `/healthz` reports that the process is alive, `/readyz` that database, cache and
 * queue answer within two seconds. Without the cache the core is ready and says what that costs: all cores share it, so
 * that otherwise none would be left. The routes are outside of `/api` and need no authentication.
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
  }
  const outcomes = Object.entries(checks).map(async ([name, check]): Promise<[string, 'ok' | 'failed']> => {
    try {
      const healthy = await withTimeLimit(LIMIT_MS, check(), () => new Error(`no answer within ${LIMIT_MS} ms`))
      return [name, healthy ? 'ok' : 'failed']
    } catch (error) {
      // The cache logs its own outage, once.
      if (name !== 'cache') platform.log.warn('readiness check failed', { part: name, error })
      return [name, 'failed']
    }
  })
  return Object.fromEntries(await Promise.all(outcomes))
}
