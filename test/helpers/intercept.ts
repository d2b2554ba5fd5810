import { type AnyHandler, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/**
 * Intercepts the requests of a file's or `describe`'s tests. Handlers that `beforeAll` adds stay, those of a test last
 * for that test.
 * @param unhandled the fate of a request without a handler: it fails, or reaches its server
 */
export function interceptRequests(unhandled: 'error' | 'bypass' = 'error'): ReturnType<typeof setupServer> {
  const server = setupServer()
  let lasting: readonly AnyHandler[] | undefined
  beforeAll(() => server.listen({ onUnhandledFrame: unhandled }))
  beforeEach(() => {
    lasting ??= server.listHandlers()
  })
  afterEach(() => server.resetHandlers(...(lasting ?? [])))
  afterAll(() => server.close())
  return server
}

/** A request that reached an intercepted host. */
interface SeenRequest {
  /** Method, path and query. */
  line: string
  headers: Headers
  body: string
  /** The fields of a body that is a form. */
  form: Record<string, string>
}

/** Answers all requests to an origin in the running test by `reply`, and returns them. */
export function recordRequests(
  server: ReturnType<typeof setupServer>,
  origin: string,
  reply: (request: Request) => Response | Promise<Response>,
): SeenRequest[] {
  const seen: SeenRequest[] = []
  server.use(
    http.all(`${origin}/*`, async ({ request }) => {
      const { pathname, search } = new URL(request.url)
      const line = `${request.method} ${pathname}${search}`
      const body = await request.clone().text()
      seen.push({ line, headers: request.headers, body, form: Object.fromEntries(new URLSearchParams(body)) })
      return reply(request)
    }),
  )
  return seen
}
