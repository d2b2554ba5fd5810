import { HttpResponse, http } from 'msw'
import { describe, expect, it, vi } from 'vitest'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { provideCore, refusalOf } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { shortenTimers } from '../pull-requests/support.ts'

/* Texts that clients of the API may rely on, written here because changing one in the code breaks clients. */

const UNKNOWN = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
const REPOSITORY = 'https://github.com/acme/infra'
const FIRST = { q: 'x', repo_uri: REPOSITORY, scope_id: 's', engine_providers: 'aws' }
const UNREACHABLE = 'Repository is not reachable or access was denied.'
const server = interceptRequests()
const core = provideCore()
const refused = (method: string, path: string, json?: unknown) =>
  refusalOf(core.call(method, `/api/v1${path}`, { json }))

describe('what is not there', () => {
  const SESSION = `Session ${UNKNOWN} not found.`
  it.each([
    ['POST', '/iac/generate', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/drift', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/import', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/apply', { session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/cancel', { session_id: UNKNOWN }, SESSION],
    ['GET', `/events/subscribe/${UNKNOWN}`, undefined, SESSION],
    ['GET', `/events/activity/${UNKNOWN}`, undefined, SESSION],
    ['GET', `/events/output/${UNKNOWN}`, undefined, SESSION],
    ['POST', '/iac/seal/verify', { session_id: UNKNOWN }, SESSION],
    ['PUT', '/repository/pr', { session_id: UNKNOWN }, SESSION],
    ['PUT', '/repository/pr/merge', { session_id: UNKNOWN }, SESSION],
    ['GET', `/sessions?id=${UNKNOWN}`, undefined, SESSION],
    ['GET', `/admin/sessions?id=${UNKNOWN}`, undefined, SESSION],
    ['PATCH', `/admin/sessions/${UNKNOWN}/toggle_lock`, { locked: true }, SESSION],
    ['PUT', '/admin/users/999999/roles', { operation_role: 'developer' }, 'User 999999 not found.'],
    ['GET', '/nowhere', undefined, 'Not Found'],
  ])('404 of %s %s', async (method, path, json, text) => {
    expect(await refused(method, path, json)).toEqual([404, text])
  })
})

describe('the session of a body', () => {
  it.each([
    ['POST', '/iac/apply'],
    ['POST', '/iac/cancel'],
    ['POST', '/iac/seal/verify'],
    ['PUT', '/repository/pr'],
    ['PUT', '/repository/pr/merge'],
  ])('is validated by %s %s', async (method, path) => {
    for (const [json, type] of [
      [{}, 'missing'],
      [{ session_id: null }, 'string_type'],
      [{ session_id: 'x' }, 'uuid_parsing'],
    ])
      expect(await refused(method, path, json)).toMatchObject([422, [{ type, loc: ['body', 'session_id'] }]])
  })

  it.each([
    ['POST', '/iac/apply'],
    ['PUT', '/repository/pr'],
    ['PUT', '/repository/pr/merge'],
  ])('has its owner checked by %s %s before its lock', async (method, path) => {
    const owner = await createUser(core.database.sql, 'other')
    const session_id = await openSession(core.context, owner.id)
    await core.database.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${session_id}`
    expect(await refused(method, path, { session_id })).toEqual([403, 'Not the session owner'])
  })
})

describe('repositories', () => {
  it.each(['/iac/generate', '/iac/drift', '/iac/import', '/repository/parse'])('400 of %s', async (path) => {
    server.use(http.get(`${REPOSITORY}/info/refs`, () => HttpResponse.error()))
    expect(await refused('POST', path, FIRST)).toEqual([400, UNREACHABLE])
  })

  it('a clone that fails after a list has the same text', async () => {
    server.use(
      listedRepository(REPOSITORY),
      http.post(`${REPOSITORY}/git-upload-pack`, () => new HttpResponse('internal words', { status: 500 })),
    )
    expect(await refused('POST', '/repository/parse', FIRST)).toEqual([502, UNREACHABLE])
  })

  it('pull requests', async () => {
    const session_id = await openSession(core.context, core.me, { repo_uri: REPOSITORY })
    await (await runRound(core.context, session_id)).finish('completed', 'GENERATE')
    const url = `${REPOSITORY}/pull/7`
    await recordPullRequest(core.context, session_id, { provider: 'GITHUB', number: 7, url })
    const merge = (mergeable: boolean | null) => {
      const pull = 'https://api.github.com/repos/acme/infra/pulls/7'
      server.use(http.get(pull, () => HttpResponse.json({ state: 'open', mergeable })))
      return refused('PUT', '/repository/pr/merge', { session_id })
    }
    expect(await merge(false)).toEqual([400, 'Pull Request 7 cannot be merged.'])
    const timers = shortenTimers(1_000)
    expect(await merge(null)).toEqual([504, 'Pull Request 7 readiness polling exhausted.'])
    expect(timers.count).toBe(10)
    vi.unstubAllGlobals()
  })
})
