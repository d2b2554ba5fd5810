import { CONTENT_TYPE, type Registry } from './registry.ts'

/** `GET /metrics` and nothing else. */
export const metricsHandler =
  (registry: Registry) =>
  async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/metrics') return new Response('Not Found\n', { status: 404 })
    if (request.method !== 'GET')
      return new Response('Method Not Allowed\n', { status: 405, headers: { allow: 'GET' } })
    return new Response(await registry.render(), {
      headers: { 'content-type': CONTENT_TYPE, 'cache-control': 'no-store' },
    })
  }
