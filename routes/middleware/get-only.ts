import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'

/** The framework would answer HEAD with a run of the GET handler; the API knows no HEAD. */
export const getOnly = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === 'HEAD') return c.notFound()
  await next()
})
