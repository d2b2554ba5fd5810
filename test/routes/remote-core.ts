import { HttpResponse, http, type RequestHandler } from 'msw'
import { beforeAll, beforeEach, expect } from 'vitest'
import { provideCore, refusalOf, type TestCore } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'

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
  const server = interceptRequests()
  beforeAll(() => {
    server.use(listedRepository(REPOSITORY), denied, ...handlers)
    server.events.on('request:start', ({ request }) => void outside.push(request.url))
  })
  beforeEach(() => {
    outside.length = 0
  })
  return { core: provideCore(), outside }
}

/** Returns the problems of a refused body, as `location: message`. */
export async function problemsOf(given: Promise<Response>): Promise<string[]> {
  const [status, detail] = await refusalOf(given)
  expect(status).toBe(422)
  return (detail as { loc: string[]; msg: string }[]).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
}
