import { readdir, readFile } from 'node:fs/promises'
import { HttpResponse, http } from 'msw'
import { expect, test } from 'vitest'
import { callOf, refusalOf } from '../../helpers/core.ts'
import { listedRepository } from '../../helpers/git-remote.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { askSilent, NO_ANSWERS, provideCoreWithSidecar } from '../../routes/sidecar.ts'
import { attack } from './attack.ts'

const GROUP = 'rounds without authorization'
const REPOSITORY = 'https://github.com/acme/infra'
const AUTHZ = 'enabled: true, endpoint: "http://authz.test:8083", token_env: T'
const env = { T: 'token-of-authz' }
const denied = () => HttpResponse.json({ authorized: false, portal_url: null, reason: 'Not in the group network.' })
const { core, sidecar, server } = provideCoreWithSidecar('http://authz.test:8083/v1/check', denied, {
  yaml: `services: { authz: { ${AUTHZ}, enforce: true } }`,
  env,
})

const FIRST = {
  q: 'Add a bucket',
  repo_uri: REPOSITORY,
  scope_id: 'acme-test',
  engine_providers: 'aws',
  iac_path: 'live/network',
}
/** Every route that begins a round, with a request that opens a session and one that continues it. */
const OPENING = ['generate', 'drift', 'import'] as const
const CONTINUING = [...OPENING, 'apply'] as const

const me = async () => (await (await core.call('GET', '/api/v1/users/me')).json()).id as number
const countRounds = async () =>
  (await core.database.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM rounds`)[0]?.count

/** Creates a session of the caller that waits for its next round. */
async function finishedSession(): Promise<string> {
  const place = { repo_uri: REPOSITORY, iac_path: 'live/network' }
  const uuid = await openSession(core.context, await me(), place)
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
  return uuid
}

/** Sends a request for a round, and asserts that it is refused like this and that no round has begun. */
async function refused(path: string, json: object, status: number): Promise<string> {
  const before = await countRounds()
  const answer = await core.call('POST', `/api/v1/iac/${path}`, { json })
  const { detail } = await answer.json()
  expect([answer.status, await countRounds()]).toEqual([status, before])
  return `${status}: ${detail}`
}

const PLACE = {
  user_id: 'dev@platform.local',
  cloud: 'aws',
  project: REPOSITORY,
  environment: 'live/network',
}

/** Asserts that the sidecar is asked about the place once, and that its answer is the refusal. */
async function refusedByGroup(path: string, json: object): Promise<string> {
  const outcome = await refused(path, json, 403)
  expect(outcome).toBe('403: Not in the group network.')
  expect(sidecar.calls.map(({ body }) => body)).toEqual([PLACE])
  return outcome
}

for (const path of OPENING)
  attack(GROUP, `a first ${path} round that the sidecar refuses`, () => refusedByGroup(path, FIRST))

for (const path of CONTINUING)
  attack(GROUP, `a further ${path} round that the sidecar refuses`, async () => {
    const session_id = await finishedSession()
    return await refusedByGroup(path, { session_id, ...(path === 'apply' ? {} : { q: 'Go on' }) })
  })

/** Every other route that reaches the repository of a session, with its method. */
const REACHING = [
  ['PUT', 'repository/pr', 'opening a pull request'],
  ['PUT', 'repository/pr/merge', 'merging'],
  ['POST', 'iac/seal/verify', 'comparing the sealed plan with the branch'],
  ['GET', 'repository/pr/readiness', 'reading what stands in the way of a merge'],
] as const
const reach = (method: string, path: string, json: { session_id: string }) =>
  method === 'GET'
    ? core.call(method, `/api/v1/${path}?session_id=${json.session_id}`)
    : core.call(method, `/api/v1/${path}`, { json })
const REVOKED = 'a user whom the sidecar refuses since the round ended'
const CLOUDS = ['azure', 'gcp', 'aws', 'oci', 'kubernetes']

for (const [method, path, title] of REACHING)
  attack(REVOKED, title, async () => {
    const session_id = await finishedSession()
    const [status, detail] = await refusalOf(reach(method, path, { session_id }))
    expect([status, detail]).toEqual([403, 'Not in the group network.'])
    expect(sidecar.calls.map(({ body }) => body)).toEqual([PLACE])
    return `${status}: ${detail}`
  })

attack(REVOKED, 'reading the folders of a repository', async () => {
  const [status, detail] = await refusalOf(core.call('POST', '/api/v1/repository/parse', { json: FIRST }))
  expect([status, detail]).toEqual([403, 'Not in the group network.'])
  const { user_id, project } = PLACE
  const asked = CLOUDS.map((cloud) => ({ user_id, cloud, project }))
  expect(new Set(sidecar.calls.map(({ body }) => body))).toEqual(new Set(asked))
  return `${status}: ${detail}`
})

test('a repository can be parsed by whoever may work on it in one cloud', async () => {
  sidecar.answers(() => HttpResponse.json({ authorized: sidecar.calls.length === 3 }))
  server.use(http.get(`${REPOSITORY}/info/refs`, () => new HttpResponse(null, { status: 404 })))
  const [status] = await refusalOf(core.call('POST', '/api/v1/repository/parse', { json: FIRST }))
  expect([status, sidecar.calls.length]).toEqual([400, CLOUDS.length])
})

test('without an answer of the sidecar no repository is reached', async () => {
  sidecar.answers(() => HttpResponse.error())
  const session_id = await finishedSession()
  for (const [method, path] of [...REACHING, ['POST', 'repository/parse'] as const])
    expect((await reach(method, path, { ...FIRST, session_id })).status).toBe(502)
})

attack(GROUP, 'a refusal without a reason', async () => {
  sidecar.answers(() => HttpResponse.json({ authorized: false }))
  const outcome = await refused('generate', FIRST, 403)
  expect(outcome).toBe(`403: Not authorized on aws/${REPOSITORY} (live/network)`)
  return outcome
})

attack(GROUP, 'a sidecar that cannot be reached', async () => {
  sidecar.answers(() => HttpResponse.error())
  const session_id = await finishedSession()
  await refused('apply', { session_id }, 502)
  return await refused('generate', FIRST, 502)
})

attack(GROUP, `a sidecar that answers anything but a decision (${NO_ANSWERS.length} kinds)`, async () => {
  let outcome = ''
  for (const [, answer] of NO_ANSWERS) {
    sidecar.answers(answer)
    outcome = await refused('generate', FIRST, 502)
    expect(outcome).not.toContain('internal words')
  }
  return outcome
})

attack(GROUP, 'a sidecar that never answers', async () => {
  const before = await countRounds()
  const { answer } = await askSilent(sidecar, 15_000, () => core.call('POST', '/api/v1/iac/generate', { json: FIRST }))
  expect([answer.status, await countRounds()]).toEqual([504, before])
  return `504: ${(await answer.json()).detail}`
})

attack(GROUP, 'a foreign session, by which the sidecar would be asked about another user’s place', async () => {
  const session_id = await finishedSession()
  await core.database.sql`
    WITH other AS (INSERT INTO users (issuer, subject) VALUES ('https://other.example', ${session_id}) RETURNING id)
    UPDATE sessions SET user_id = other.id FROM other WHERE uuid = ${session_id}`
  const outcome = await refused('apply', { session_id }, 403)
  expect([outcome, sidecar.calls]).toEqual(['403: Not the session owner', []])
  return outcome
})

test('each route that reaches a repository asks, so that a new one cannot forget to', async () => {
  const reaching = /src\/(repository|pull-requests)\/|rounds\/accept\.ts|saved-plans\/verify\.ts/
  const asking = /requireOwnRepository\(|requireRepositoryToManage\(|requireSomeAuthorization\(/
  const routes = new URL('../../../routes/', import.meta.url)
  const files = (await readdir(routes, { recursive: true })).filter((file) => file.startsWith('v1/'))
  const texts = new Map<string, string>()
  for (const file of files.filter((name) => name.endsWith('.ts')))
    texts.set(file, await readFile(new URL(file, routes), 'utf8'))
  const found = [...texts].filter(([, text]) => reaching.test(text))
  expect(found.map(([file]) => file).sort()).toEqual([
    'v1/iac/schedule.ts',
    'v1/iac/seal/verify.post.ts',
    'v1/repository/parse.post.ts',
    'v1/repository/pr.put.ts',
    'v1/repository/pr/merge.put.ts',
    'v1/repository/pr/readiness.get.ts',
  ])
  expect(found.filter(([, text]) => !asking.test(text))).toEqual([])
})

test('what the sidecar grants is accepted, on every route', async () => {
  sidecar.answers(() => HttpResponse.json({ authorized: true }))
  server.use(listedRepository(REPOSITORY))
  for (const path of OPENING) {
    const answer = await core.call('POST', `/api/v1/iac/${path}`, { json: FIRST })
    expect([path, answer.status]).toEqual([path, 202])
  }
  const session_id = await finishedSession()
  const before = (await countRounds()) ?? 0
  expect((await core.call('POST', '/api/v1/iac/apply', { json: { session_id } })).status).toBe(202)
  expect(await countRounds()).toBe(before + 1)
})

test('a session without a path is asked about without an environment', async () => {
  const session_id = await openSession(core.context, await me(), { repo_uri: REPOSITORY })
  await (await runRound(core.context, session_id)).finish('completed', 'GENERATE')
  await refused('apply', { session_id }, 403)
  expect(sidecar.calls[0]?.body).toEqual({ user_id: 'dev@platform.local', cloud: 'aws', project: REPOSITORY })
})

test('as shipped nobody is asked when a round begins, also where the sidecar is enabled', async () => {
  for (const yaml of ['', `services: { authz: { ${AUTHZ} } }`]) {
    const call = callOf(await core.another({ yaml: `${yaml}\nenvironment: development`, env }))
    const session_id = await finishedSession()
    expect((await call('POST', '/api/v1/iac/apply', { json: { session_id } })).status).toBe(202)
    expect(sidecar.calls).toEqual([])
  }
})
