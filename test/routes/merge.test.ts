import { HttpResponse, http } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { shortenTimers } from '../pull-requests/support.ts'

const REPOSITORY = 'https://github.com/acme/infra'
const PULLS = 'https://api.github.com/repos/acme/infra/pulls'
const server = interceptRequests()
let core: TestCore
let me: number

beforeAll(async () => {
  core = await createTestCore()
  me = (await (await core.call('GET', '/api/v1/users/me')).json()).id
})
afterEach(() => void vi.unstubAllGlobals())
afterAll(() => core.close())

const merge = (json: unknown) => core.call('PUT', '/api/v1/repository/pr/merge', { json })
async function sessionWith(numbers: number[], owner = me): Promise<string> {
  const uuid = await openSession(core.context, owner, { repo_uri: REPOSITORY })
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
  for (const number of numbers)
    await recordPullRequest(core.context, uuid, { provider: 'GITHUB', number, url: `${REPOSITORY}/pull/${number}` })
  return uuid
}
const lock = (uuid: string) =>
  core.call('PATCH', `/api/v1/admin/sessions/${uuid}/toggle_lock`, { json: { locked: true } })

function host(
  mergeable: boolean | null,
  merged: () => Response = () => HttpResponse.json({ merged: true, sha: 'a', message: '' }),
) {
  const calls: string[] = []
  server.use(
    http.get(`${PULLS}/:number`, ({ params }) => {
      calls.push(`GET ${params.number}`)
      return HttpResponse.json({ state: 'open', mergeable })
    }),
    http.put(`${PULLS}/:number/merge`, ({ params }) => {
      calls.push(`PUT ${params.number}`)
      return merged()
    }),
  )
  return calls
}

describe('PUT /api/v1/repository/pr/merge', () => {
  it('merges the pull request that was opened last and answers nothing', async () => {
    const calls = host(true)
    const answer = await merge({ session_id: (await sessionWith([12, 4])).toUpperCase(), other: 1 })
    expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([204, '', null])
    expect(calls).toEqual(['GET 4', 'PUT 4'])
  })

  it('asks the host only after the record has taken it, and tells a refused merge from one that was done', async () => {
    const { sql } = core.database
    const actions = async (uuid: string) => {
      const rows = await sql<{ action: string }[]>`
        SELECT action FROM audit_records WHERE session_uuid = ${uuid} AND action LIKE 'merge%' ORDER BY id`
      return rows.map(({ action }) => action)
    }
    const uuid = await sessionWith([4])
    host(true, () => HttpResponse.json({ message: 'Merge conflict' }, { status: 409 }))
    expect((await merge({ session_id: uuid })).status).toBe(409)
    expect(await actions(uuid)).toEqual(['merge_begun'])
    const calls = host(true)
    await sql`ALTER TABLE audit_records ADD CONSTRAINT none CHECK (false) NOT VALID`
    expect((await merge({ session_id: uuid })).status).toBe(500)
    await sql`ALTER TABLE audit_records DROP CONSTRAINT none`
    expect(calls).toEqual(['GET 4'])
    expect((await merge({ session_id: uuid })).status).toBe(204)
    expect(await actions(uuid)).toEqual(['merge_begun', 'merge_begun', 'merge_completed'])
  })

  it('looks at the lock first, then for a pull request', async () => {
    const uuid = await sessionWith([])
    const none = await merge({ session_id: uuid })
    expect([none.status, await none.json()]).toEqual([404, { detail: expect.stringContaining('no pull requests') }])
    await lock(uuid)
    const locked = await merge({ session_id: uuid })
    expect([locked.status, await locked.json()]).toEqual([
      409,
      { detail: `Session ${uuid} is blocked; PR merge is not allowed.` },
    ])
  })

  it('says so when the host does not make up its mind: ten waits of a second', async () => {
    const timers = shortenTimers(1_000)
    const calls = host(null)
    const answer = await merge({ session_id: await sessionWith([4]) })
    expect([answer.status, (await answer.json()).detail]).toEqual([
      504,
      expect.stringContaining('readiness polling exhausted'),
    ])
    expect([timers.count, calls.length]).toEqual([10, 11])
  })

  it.each([
    [401, 502],
    [403, 502],
    [405, 405],
    [409, 409],
    [422, 422],
  ])('answers %i of the host as %i, never as the end of the caller’s own session', async (status, expected) => {
    host(true, () => HttpResponse.json({ message: 'Not now' }, { status }))
    const answer = await merge({ session_id: await sessionWith([4]) })
    expect(answer.status).toBe(expected)
    expect(answer.headers.get('www-authenticate')).toBeNull()
    expect((await answer.json()).detail).toContain('Not now')
  })

  it('validates the body, then looks for the session, then for its owner, then for the lock', async () => {
    expect((await (await merge({})).json()).detail).toMatchObject([{ type: 'missing', loc: ['body', 'session_id'] }])
    expect((await (await merge({ session_id: 'x' })).json()).detail).toMatchObject([{ type: 'uuid_parsing' }])
    const unknown = crypto.randomUUID()
    const missing = await merge({ session_id: unknown })
    expect([missing.status, await missing.json()]).toEqual([404, { detail: `Session ${unknown} not found.` }])
    const foreign = await sessionWith([4], (await createUser(core.database.sql, 'other')).id)
    await lock(foreign)
    const refused = await merge({ session_id: foreign })
    expect([refused.status, await refused.json()]).toEqual([403, { detail: 'Not the session owner' }])
  })
})
