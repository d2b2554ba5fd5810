import type { AnyHandler } from 'msw'
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
