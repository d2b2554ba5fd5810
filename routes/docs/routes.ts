import { swaggerUI } from '@hono/swagger-ui'
import { Hono } from 'hono'
import { notFound } from '../../src/base/errors.ts'
import type { AppEnv } from '../env.ts'
import { CONTENT_SECURITY_POLICY, OWN_ASSETS, redocPage, swaggerBody } from './pages.ts'

const PAGE_HEADERS = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' }

/**
 * Creates the public routes of the API description and of the two pages that show it.
 * @param description returns the OpenAPI document as JSON text
 */
export function createDocumentationRoutes(description: () => string): Hono<AppEnv> {
  const docs = new Hono<AppEnv>()
  docs.get('/openapi.json', (c) => c.body(description(), 200, { 'Content-Type': 'application/json' }))
  const swagger = swaggerUI<AppEnv>({
    title: 'Platform API',
    url: 'openapi.json',
    manuallySwaggerUIHtml: () => swaggerBody,
  })
  docs.get('/docs', (c, next) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
    return swagger(c, next)
  })
  docs.get('/redoc', (c) => c.html(redocPage, 200, PAGE_HEADERS))
  docs.get('/docs/assets/:name', async (c) => {
    const name = c.req.param('name')
    const asset = (Object.hasOwn(OWN_ASSETS, name) ? OWN_ASSETS[name] : null) ?? (await c.var.platform.asset(name))
    if (!asset) throw notFound('Not Found')
    return c.body(asset.body, 200, { 'Content-Type': asset.content_type, 'Cache-Control': 'public, max-age=3600' })
  })
  return docs
}
