import { swaggerUI } from '@hono/swagger-ui'
import { Hono } from 'hono'
import { notFound } from '../src/base/errors.ts'
import type { AppEnv } from './env.ts'

/** The body of the Swagger page. The package's own would load files from another host and use an inline script. */
const swaggerBody = `<link rel="icon" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/assets/start-swagger-ui.js"></script>`

/** The addresses of both pages are relative, for closed networks and proxies that strip `/api`. */
const redocPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Platform API reference</title>
<link rel="icon" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/page.css">
</head>
<body>
<div id="redoc"></div>
<script src="docs/assets/redoc.standalone.js"></script>
<script src="docs/assets/start-redoc.js"></script>
</body>
</html>
`

/** Our own small files, served beside those of the two viewers. */
const OWN_ASSETS: Record<string, { body: string; content_type: string }> = {
  'start-swagger-ui.js': {
    content_type: 'text/javascript; charset=utf-8',
    body: `SwaggerUIBundle({
  url: new URL('../../openapi.json', document.currentScript.src).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`,
  },
  'start-redoc.js': {
    content_type: 'text/javascript; charset=utf-8',
    body: `Redoc.init(
  new URL('../../openapi.json', document.currentScript.src).href,
  {
    disableSearch: true,
    hideDownloadButton: false,
    theme: { typography: { fontFamily: 'sans-serif', headings: { fontFamily: 'sans-serif' } } },
  },
  document.getElementById('redoc'),
)
`,
  },
  'page.css': { content_type: 'text/css; charset=utf-8', body: 'body { margin: 0; padding: 0 }\n' },
}

/** The policy of the pages: scripts come from this server only; styles may be inline, as both viewers write them. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

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
