import { HttpResponse, http, type RequestHandler } from 'msw'
import { setupServer } from 'msw/node'
import { beforeEach } from 'vitest'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { startOnce } from '../helpers/start-once.ts'

export const REPOSITORY = 'https://git.example.com/acme/infra.git'
/** A repository that refuses everyone. */
export const DENIED = 'https://git.example.com/acme/denied.git'

/** Provides a core in front of a git host with one readable and one unreadable repository. `me` is its user. */
export function provideCoreWithRemote(...handlers: RequestHandler[]): {
  core: TestCore & { me: number }
  /** Addresses of the core's requests in the running test. */
  outside: string[]
} {
  const outside: string[] = []
  const denied = http.get(`${DENIED}/info/refs`, () => new HttpResponse('no', { status: 403 }))
  const server = setupServer(listedRepository(REPOSITORY), denied, ...handlers)
  const core = startOnce(async () => {
    server.listen({ onUnhandledFrame: 'error' })
    server.events.on('request:start', ({ request }) => void outside.push(request.url))
    const started = await createTestCore()
    const me: number = (await (await started.call('GET', '/api/v1/users/me')).json()).id
    const close = async () => {
      server.close()
      await started.close()
    }
    return { ...started, me, close }
  })
  beforeEach(() => {
    outside.length = 0
  })
  return { core, outside }
}
