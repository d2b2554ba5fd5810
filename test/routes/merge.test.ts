import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { provideCore, refusalOf } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { openSession, runRound } from '../helpers/sessions.ts'

const REPOSITORY = 'https://github.com/acme/infra'
const PULLS = 'https://api.github.com/repos/acme/infra/pulls'
const server = interceptRequests()
const core = provideCore()

const merge = (json: unknown) => core.call('PUT', '/api/v1/repository/pr/merge', { json })
async function sessionWith(numbers: number[]): Promise<string> {
  const uuid = await openSession(core.context, core.me, { repo_uri: REPOSITORY })
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
    http.get(PULLS.replace('/pulls', ''), () => HttpResponse.json({ allow_merge_commit: true })),
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
    expect(await refusalOf(merge({ session_id: uuid }))).toEqual([404, expect.stringContaining('no pull requests')])
    await lock(uuid)
    expect(await refusalOf(merge({ session_id: uuid }))).toEqual([
      409,
      `Session ${uuid} is blocked; PR merge is not allowed.`,
    ])
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
})
