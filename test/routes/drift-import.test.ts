import { describe, expect, it } from 'vitest'
import { answerOf } from '../helpers/core.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { problemsOf, provideCoreWithRemote, REPOSITORY } from './remote-core.ts'

const FIRST = { q: 'The log buckets', repo_uri: REPOSITORY, scope_id: 'acme-test', engine_providers: 'aws' }
const { core, outside } = provideCoreWithRemote()

const detail = async (uuid: string) => (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
const roundsOf = async (uuid: string) => [
  ...(await core.database.sql<{ mode: string; is_partial: boolean; query: string }[]>`
    SELECT mode, is_partial, query FROM rounds WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${uuid}) ORDER BY number`),
]
const queued = async (uuid: string) => {
  const [row] = await core.database.sql<{ count: number }[]>`
    SELECT count(*) FROM queued_rounds WHERE round_id IN
      (SELECT id FROM rounds WHERE finished_at IS NULL AND session_id = (SELECT id FROM sessions WHERE uuid = ${uuid}))`
  return row?.count
}

describe.each(['drift', 'import'])('POST /api/v1/iac/%s', (mode) => {
  const post = (json: unknown) => core.call('POST', `/api/v1/iac/${mode}`, { json })
  const problems = (json: unknown) => problemsOf(post(json))

  it.each([
    ['absent', undefined, false],
    ['null', null, false],
    ['false', false, false],
    ['true', true, true],
    ['"yes"', 'yes', true],
  ])('opens a session; is_partial is %s', async (_, is_partial, stored) => {
    const answer = await post({ ...FIRST, is_partial, iac_path: 'live' })
    expect(answer.status).toBe(202)
    const body = await answer.json()
    expect(Object.keys(body)).toEqual(['session_id'])
    expect(await detail(body.session_id)).toMatchObject({
      operation: mode,
      provider: 'aws',
      scope_id: 'acme-test',
      first_query: FIRST.q,
      workspace: { uri: REPOSITORY, root_path: 'live' },
      current_status: 'started',
      in_flight: true,
      is_blocked: false,
      lock: null,
    })
    expect(await roundsOf(body.session_id)).toEqual([{ mode, is_partial: stored, query: FIRST.q }])
    expect(await queued(body.session_id)).toBe(1)
  })

  it('continues a session, of whatever operation, which keeps its own', async () => {
    for (const first of ['generate', 'drift', 'import'] as const) {
      const uuid = await openSession(core.context, core.me, { mode: first, query: 'first' })
      await (await runRound(core.context, uuid)).finish('completed', 'over')
      expect(await answerOf(post({ session_id: uuid.toUpperCase(), q: 'more', is_partial: true }))).toEqual([
        202,
        { session_id: uuid },
      ])
      expect(await detail(uuid)).toMatchObject({ operation: first, first_query: 'first', in_flight: true })
      expect((await roundsOf(uuid))[1]).toEqual({ mode, is_partial: true, query: 'more' })
      expect(await queued(uuid)).toBe(1)
    }
    expect(outside).toEqual([])
  })

  it('neither sets nor clears the lock', async () => {
    const uuid = await openSession(core.context, core.me)
    await (await runRound(core.context, uuid)).finish('completed', 'over')
    await core.database.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
    expect((await post({ session_id: uuid, q: 'more' })).status).toBe(202)
    expect(await detail(uuid)).toMatchObject({ is_blocked: true, in_flight: true })
  })

  it('refuses is_partial as another word', async () => {
    const text = 'body.is_partial: Input should be a valid boolean, unable to interpret input'
    expect(await problems({ ...FIRST, is_partial: 'perhaps' })).toEqual([text])
  })

  it('takes a text of blanks for the whole root, but not for a part', async () => {
    const text = {
      drift: 'body: Value error, Partial drift detection requires a non-empty q',
      import: 'body: Value error, Partial import requires a non-empty `q`.',
    }[mode]
    expect((await post({ ...FIRST, q: ' \n' })).status).toBe(202)
    expect(await problems({ ...FIRST, q: ' \n', is_partial: true })).toEqual([text])
    expect(await problems({ ...FIRST, q: '', is_partial: true })).toEqual([
      'body.q: String should have at least 1 character',
      text,
    ])
    const session_id = crypto.randomUUID()
    expect(await problems({ session_id, q: '\t', is_partial: true })).toEqual([text])
    expect(await problems({ q: ' ', is_partial: true })).toEqual([
      'body: Value error, Exactly one of `repo_uri` or `session_id` must be provided.',
    ])
  })
})

it('an import needs a scope that says something', async () => {
  for (const scope_id of [' ', '']) {
    const problems = await problemsOf(core.call('POST', '/api/v1/iac/import', { json: { ...FIRST, scope_id } }))
    expect(problems.at(-1)).toBe('body: Value error, The `scope_id` must be provided when `repo_uri` is set.')
  }
  const other = await core.call('POST', '/api/v1/iac/drift', { json: { ...FIRST, scope_id: ' ' } })
  expect(other.status).toBe(202)
})
