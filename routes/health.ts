import { Hono } from 'hono'
import { withTimeLimit } from '../src/base/time.ts'
import type { AppEnv, CoreContext } from './env.ts'

const LIMIT_MS = 2_000

/**
 * Creates the routes for supervisors: `/healthz` reports that the process is alive, `/readyz` that database, cache and
 * queue answer within two seconds. They are outside of `/api` and need no authentication.
 */
export function createHealthRoutes(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const parts = await checkParts(c.var.platform)
    const ready = Object.values(parts).every((state) => state === 'ok')
    return c.json({ status: ready ? 'ok' : 'unavailable', parts }, ready ? 200 : 503)
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
      platform.log.warn('readiness check failed', { part: name, error })
      return [name, 'failed']
    }
  })
  return Object.fromEntries(await Promise.all(outcomes))
}
