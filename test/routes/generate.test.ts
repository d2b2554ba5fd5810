import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { answerOf, refusalOf } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { DENIED, problemsOf, provideCoreWithRemote, REPOSITORY } from './remote-core.ts'

const UNREACHABLE = 'Repository is not reachable or access was denied.'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const { core, outside } = provideCoreWithRemote(
  listedRepository('https://github.com/acme/infra.git'),
  listedRepository('https://git.example.com/acme/read-only.git', { pushStatus: 401 }),
  http.get('https://git.example.com/acme/unknown.git/info/refs', () => HttpResponse.error()),
)

const first = { q: 'Add a bucket', repo_uri: REPOSITORY, scope_id: 'acme-test', engine_providers: 'aws' }
const postTo = (mode: string) => (json: unknown) => core.call('POST', `/api/v1/iac/${mode}`, { json })
const post = postTo('generate')
const total = async () => (await (await core.call('GET', '/api/v1/sessions/list')).json()).total
const detail = async (uuid: string, history = false) =>
  (await core.call('GET', `/api/v1/sessions?id=${uuid}&include_history=${history}`)).json()

const finished = async (status: 'completed' | 'uncompleted' | 'failed', query = 'first') => {
  const uuid = await openSession(core.context, core.me, { query })
  await (await runRound(core.context, uuid)).finish(status, 'over')
  return uuid
}

describe('a choice for a state that exists elsewhere', () => {
  it.each(['generate', 'drift', 'import'])('goes with the round of %s, and an unknown one is refused', async (mode) => {
    const choices = async (uuid: string) => {
      const rows = await core.context.sql<{ state_choice: string | null }[]>`
        SELECT r.state_choice FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} ORDER BY number`
      return rows.map(({ state_choice }) => state_choice)
    }
    const { session_id } = await (await postTo(mode)({ ...first, state: 'adopt' })).json()
    expect(await choices(session_id)).toEqual(['adopt'])
    const uuid = await finished('completed')
    await postTo(mode)({ q: 'Again', session_id: uuid, state: 'keep' })
    expect(await choices(uuid)).toEqual([null, 'keep'])
    expect((await postTo(mode)({ ...first, state: 'merge' })).status).toBe(422)
  })
})

describe('first call', () => {
  it('opens a session of the caller and answers its id alone', async () => {
    const answer = await post({ ...first, iac_path: 'live/a..b' })
    expect(answer.status).toBe(202)
    const body = await answer.json()
    expect(Object.keys(body)).toEqual(['session_id'])
    expect(body.session_id).toMatch(UUID)
    const session = await detail(body.session_id)
    expect(session).toMatchObject({
      uuid: body.session_id,
      username: 'dev@platform.local',
      operation: 'generate',
      provider: 'aws',
      scope_id: 'acme-test',
      first_query: 'Add a bucket',
      workspace: { uri: REPOSITORY, root_path: 'live/a..b' },
      current_status: 'started',
      in_flight: true,
      is_blocked: false,
      lock: null,
      history: null,
    })
    expect(session.rounds).toHaveLength(1)
    expect(session.rounds[0].statuses).toMatchObject([{ status: 'started', message: null }])
  })

  it('queues the round', async () => {
    const { session_id } = await (await post(first)).json()
    expect(
      await core.database.sql`
        SELECT 1 FROM queued_rounds q JOIN rounds r ON r.id = q.round_id JOIN sessions s ON s.id = r.session_id
        WHERE s.uuid = ${session_id}`,
    ).toHaveLength(1)
  })

  it.each([
    ['every cloud', { engine_providers: 'kubernetes' }],
    ['a user name in the URI', { repo_uri: REPOSITORY.replace('https://', 'https://ada@') }],
    ['null for absent keys', { iac_path: null, session_id: null }],
    ['an empty path', { iac_path: '' }],
    ['keys that mean nothing here', { is_partial: 'perhaps', other: 1 }],
    ['a request of blanks', { q: '  ' }],
    ['a long request', { q: 'x'.repeat(100_000) }],
    ['a scope of 1016 characters outside the basic plane', { scope_id: '𝒳'.repeat(1016) }],
  ])('accepts %s', async (_, changes) => {
    expect((await post({ ...first, ...changes })).status).toBe(202)
  })

  it('takes the repository root when no path or an empty one is given', async () => {
    for (const iac_path of [undefined, null, '']) {
      const { session_id } = await (await post({ ...first, iac_path })).json()
      expect((await detail(session_id)).workspace.root_path).toBeNull()
    }
  })
})

describe.each(['generate', 'drift', 'import'])('requests of %s', (mode) => {
  const post = postTo(mode)
  const problems = (json: unknown) => problemsOf(post(json))

  it('refuses a repository that cannot be listed, and opens no session', async () => {
    const before = await total()
    for (const repo_uri of [DENIED, 'https://git.example.com/acme/unknown.git'])
      expect(await refusalOf(post({ ...first, repo_uri }))).toEqual([400, UNREACHABLE])
    expect(await total()).toBe(before)
  })

  it('refuses a repository to which it may not push, and opens no session but for a preview', async () => {
    const before = await total()
    const repo_uri = 'https://git.example.com/acme/read-only.git'
    const message =
      "The platform may not push to this repository: its account is for the git host 'github.com', and this " +
      'repository is elsewhere.'
    expect(await refusalOf(post({ ...first, repo_uri }))).toEqual([400, message])
    expect(await total()).toBe(before)
    if (mode !== 'generate') expect((await post({ ...first, repo_uri, preview: true })).status).toBe(202)
  })

  it('changes nothing while a round runs or after a failed one', async () => {
    const running = await openSession(core.context, core.me)
    const failed = await finished('failed')
    for (const uuid of [running, failed]) {
      const before = await detail(uuid, true)
      expect(await answerOf(post({ session_id: uuid, q: 'more' }))).toEqual([202, { session_id: uuid }])
      expect(await detail(uuid, true)).toEqual(before)
    }
  })

  it('stores no secret of a request, in a first round or a later one', async () => {
    const secret = ['hunter', '2-Xy!'].join('')
    const { session_id } = await (await post({ ...first, q: `A database, the password is ${secret}` })).json()
    expect(await detail(session_id)).toMatchObject({
      first_query: 'A database, the password is (masked secret)',
      rounds: [{ query: 'A database, the password is (masked secret)' }],
    })
    const uuid = await finished('completed')
    await post({ session_id: uuid, q: `Now db_password="${secret}"` })
    expect((await detail(uuid)).rounds[1].query).toBe('Now db_password="(masked secret)"')
    expect(JSON.stringify(await core.database.sql`SELECT query FROM rounds`)).not.toContain(secret)
  })

  it('asks for the request text', async () => {
    const { q, ...rest } = first
    expect(await problems(rest)).toEqual(['body.q: Field required'])
    expect(await problems({ ...first, q: '' })).toEqual(['body.q: String should have at least 1 character'])
    expect(await problems({ ...first, q: null })).toEqual(['body.q: Input should be a valid string'])
    expect(q).toBeDefined()
  })

  it.each([
    'https://',
    'https:///x',
    'https:git.example.com/x',
    'https:\\\\git.example.com\\x',
    'http://git.example.com/x',
    'ssh://git@git.example.com/x',
    'git@git.example.com:acme/x.git',
    'git://git.example.com/x',
    'file:///srv/x',
    '/srv/x',
    './x',
    'git.example.com/x',
    'https://git.example.com/a b',
    'https://git.example\n.com/x',
  ])('refuses the address %j without contact', async (repo_uri) => {
    const [text] = await problems({ ...first, repo_uri })
    expect(text).toMatch(/^body\.repo_uri: Value error, .*https:\/\//)
    expect(outside).toEqual([])
  })

  it.each([
    'https://user:secret@git.example.com/x',
    'https://user:@git.example.com/x',
    'https://:@git.example.com/x',
    'https://user%3Apw@git.example.com/x',
  ])('refuses the secret in %j and does not repeat it', async (repo_uri) => {
    const answer = await post({ ...first, repo_uri, q: undefined })
    expect(answer.status).toBe(422)
    const text = await answer.text()
    expect(text).toContain('must not embed a password or token')
    expect(text).not.toContain('git.example.com')
    expect(JSON.stringify(core.log)).not.toContain('user:secret')
  })

  it.each([
    ['no scope', { scope_id: null }, 'body: Value error, First call (repo_uri) requires `scope_id`.'],
    [
      'no provider',
      { engine_providers: undefined },
      'body: Value error, First call (repo_uri) requires `engine_providers`.',
    ],
    [
      'neither',
      { scope_id: null, engine_providers: null },
      'body: Value error, First call (repo_uri) requires `engine_providers`.',
    ],
    [
      'a scope too long to store',
      { scope_id: 'x'.repeat(1017) },
      'body.scope_id: String should have at most 1016 characters',
    ],
    [
      'another cloud',
      { engine_providers: 'ibm' },
      "body.engine_providers: Input should be 'azure', 'gcp', 'aws', 'oci' or 'kubernetes'",
    ],
    [
      'no session and no repository',
      { repo_uri: null },
      'body: Value error, Exactly one of `repo_uri` or `session_id` must be provided.',
    ],
    [
      'both',
      { session_id: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' },
      'body: Value error, Exactly one of `repo_uri` or `session_id` must be provided.',
    ],
  ])('refuses %s', async (_, changes, text) => {
    expect(await problems({ ...first, ...changes })).toEqual([text])
  })

  it.each(['/infra', '../x', 'a/../b', 'a/..', '..'])('refuses the path %j', async (iac_path) => {
    expect(await problems({ ...first, iac_path })).toEqual([
      'body.iac_path: Value error, iac_path must be a repo-relative path (not absolute) and must not contain ' +
        "'..' segments",
    ])
  })

  it('refuses a blank at an end of the path, and takes one inside', async () => {
    expect(await problems({ ...first, iac_path: 'live ' })).toEqual([
      'body.iac_path: Value error, iac_path must not begin or end with a blank; blanks inside of it are part of the path',
    ])
    expect((await post({ ...first, iac_path: 'my stack/prod' })).status).toBe(202)
  })

  it('refuses backslashes, NUL characters and lone surrogates', async () => {
    expect((await post({ ...first, iac_path: 'a\\b' })).status).toBe(422)
    expect((await post({ ...first, iac_path: 'a\0b' })).status).toBe(422)
    expect((await post({ ...first, q: 'a\0b' })).status).toBe(422)
    expect(await problems({ ...first, q: '\ud800' })).toEqual([
      'body.q: Input should be a valid string, unable to parse raw data as a unicode string',
    ])
  })

  it('asks for a scope', async () => {
    expect((await problems({ ...first, scope_id: '' }))[0]).toBe(
      'body.scope_id: String should have at least 1 character',
    )
  })

  it('reports bad fields together and rules over several fields only when all are good', async () => {
    expect(await problems({ q: '', session_id: 'x', iac_path: '/a' })).toEqual([
      'body.q: String should have at least 1 character',
      'body.iac_path: Value error, iac_path must be a repo-relative path (not absolute) and must not contain ' +
        "'..' segments",
      'body.session_id: Input should be a valid UUID, unable to parse the string as a UUID',
    ])
  })

  it('shows where and what, as far as it may be shown', async () => {
    const session_id = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
    const both = await (await post({ ...first, session_id })).json()
    expect(both.detail[0].input).toEqual({ ...first, session_id })
    const answer = await post({ scope_id: 'x', repo_uri: 'https://user:secret@h/x' })
    expect((await answer.json()).detail).toEqual([
      { type: 'missing', loc: ['body', 'q'], msg: 'Field required', input: { scope_id: 'x', repo_uri: null } },
      {
        type: 'value_error',
        loc: ['body', 'repo_uri'],
        msg: expect.stringMatching(/^Value error, /),
        input: null,
        ctx: { error: {} },
      },
    ])
    const missing = await post({ q: 'x' })
    expect((await missing.json()).detail).toEqual([
      {
        type: 'value_error',
        loc: ['body'],
        msg: 'Value error, Exactly one of `repo_uri` or `session_id` must be provided.',
        input: { q: 'x' },
        ctx: { error: {} },
      },
    ])
  })
})

describe('iteration', () => {
  it.each(['completed', 'uncompleted'] as const)('opens a round on a session that ended %s', async (status) => {
    const uuid = await finished(status)
    expect(await answerOf(post({ session_id: uuid.toUpperCase(), q: 'more' }))).toEqual([202, { session_id: uuid }])
    const session = await detail(uuid)
    expect(session).toMatchObject({ first_query: 'first', current_status: 'started', in_flight: true })
    expect(session.rounds.map(({ number, query }: { number: number; query: string }) => [number, query])).toEqual([
      [1, 'first'],
      [2, 'more'],
    ])
    expect(outside).toEqual([])
  })

  it('ignores scope and provider, refuses a path', async () => {
    const uuid = await finished('completed')
    expect((await post({ session_id: uuid, q: 'x', scope_id: 'other', engine_providers: 'gcp' })).status).toBe(202)
    expect(await detail(uuid)).toMatchObject({ scope_id: 'acme-test', provider: 'aws' })
    expect(await problemsOf(post({ session_id: uuid, q: 'x', iac_path: 'live' }))).toEqual([
      'body: Value error, iac_path is set only on the first call; iteration calls inherit it from the session.',
    ])
  })
})
