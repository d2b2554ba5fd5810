import { HttpResponse } from 'msw'
import { expect, test } from 'vitest'
import { configOf, refusalOf } from '../../helpers/core.ts'
import { listedRepository } from '../../helpers/git-remote.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { provideCoreWithSidecar } from '../../routes/sidecar.ts'
import { attack } from './attack.ts'

const GROUP = 'the scope of another team'
const OWN = 'https://github.com/acme/infra'
const env = { T: 'token-of-authz' }
const { core, sidecar, server } = provideCoreWithSidecar(
  'http://authz.test:8083/v1/check',
  () => HttpResponse.json({ authorized: true }),
  {
    yaml: `
services: { authz: { enabled: true, enforce: true, endpoint: "http://authz.test:8083", token_env: T } }
access:
  scopes:
    acme-production: [github.com/acme/*]
    "Rival-Production ": [github.com/rival/*, git.rival.example/one]
    nobody: []`,
    env,
  },
)

const REFUSED = 'scope_id may not be used with this repository; access.scopes of the platform binds scopes.'
const first = (scope_id: string, repo_uri = OWN) => ({ q: 'Import', repo_uri, scope_id, engine_providers: 'aws' })
const begin = (mode: string, json: object) => core.call('POST', `/api/v1/iac/${mode}`, { json })
const count = async () =>
  (await core.database.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM rounds`)[0]?.count
const me = async () => (await (await core.call('GET', '/api/v1/users/me')).json()).id as number

/** Asserts that nothing begins and that neither service nor repository is asked. */
async function refused(mode: string, json: object): Promise<string> {
  const before = await count()
  const [status, detail] = await refusalOf(begin(mode, json))
  expect([status, detail]).toEqual([403, REFUSED])
  expect([await count(), sidecar.calls]).toEqual([before, []])
  return `${status}: ${detail}`
}

for (const mode of ['generate', 'drift', 'import'])
  attack(GROUP, `a first ${mode} round that names it`, () => refused(mode, first('rival-production')))

const SPELLINGS = [
  [' RIVAL-production ', OWN],
  ['rival-production', 'https://github.com/acme/rival'],
  ['rival-production', 'https://github.com/rival%2fx/../acme/infra'],
  ['rival-production', 'https://github.com.evil.example/rival/infra'],
  ['rival-production', 'https://evil.example/github.com/rival/infra'],
  ['rival-production', 'https://git.rival.example.evil.example/one'],
  ['acme-production', 'https://github.com/acme%2f..%2frival/infra'],
  ['acme-production', 'https://github.com/acme/../rival/infra'],
  ['nobody', OWN],
] as const
for (const [scope, repository] of SPELLINGS)
  attack(GROUP, `${JSON.stringify(scope)} in ${repository}`, () => refused('import', first(scope, repository)))

attack(GROUP, 'a session from before the scope was bound', async () => {
  const session_id = await openSession(core.context, await me(), { repo_uri: OWN, scope_id: 'rival-production' })
  await (await runRound(core.context, session_id)).finish('completed', 'GENERATE')
  const outcome = await refused('import', { q: 'Go on', session_id })
  for (const [method, path] of [
    ['POST', 'iac/apply'],
    ['POST', 'iac/seal/verify'],
    ['PUT', 'repository/pr'],
    ['PUT', 'repository/pr/merge'],
  ] as const)
    expect([path, await refusalOf(core.call(method, `/api/v1/${path}`, { json: { session_id } }))]).toEqual([
      path,
      [403, REFUSED],
    ])
  expect((await core.call('GET', `/api/v1/sessions?id=${session_id}`)).status).toBe(200)
  return outcome
})

attack(GROUP, 'a scope that the authorization service would refuse if it knew of it', async () => {
  server.use(listedRepository(OWN))
  sidecar.answers(() => {
    const { scope_id } = Object(sidecar.calls.at(-1)?.body)
    const headers = { 'x-check-fields': 'scope_id' }
    return HttpResponse.json({ authorized: scope_id !== 'not-mine', reason: 'Not your account.' }, { headers })
  })
  const before = await count()
  const answer = await refusalOf(begin('import', first('not-mine')))
  expect([answer, await count()]).toEqual([[403, 'Not your account.'], before])
  const plain = { user_id: 'dev@platform.local', cloud: 'aws', project: OWN }
  expect(sidecar.calls.map(({ body }) => body)).toEqual([plain, { ...plain, scope_id: 'not-mine' }])
  expect((await begin('import', first('mine'))).status).toBe(202)
  return 'the service is asked again with the scope before its decision counts'
})

test('scopes are used where they are bound, and everywhere when they are not', async () => {
  for (const [scope, repository] of [
    ['acme-production', OWN],
    ['ACME-PRODUCTION', 'https://github.com/Acme/infra.git'],
    ['rival-production', 'https://git.rival.example/one'],
    ['of-everybody', 'https://github.com/rival/infra'],
    ['constructor', OWN],
  ] as const) {
    server.use(listedRepository(repository))
    const { status } = await begin('import', first(scope, repository))
    expect([scope, repository, status]).toEqual([scope, repository, 202])
  }
})

test('"*" stands for the scopes that are not listed', async () => {
  const yaml = 'access: { scopes: { mine: [github.com/acme/*], "*": [github.com/everybody/*] } }'
  const app = await core.another({ yaml })
  const ask = async (scope_id: string, repo_uri: string) => {
    const body = JSON.stringify(first(scope_id, repo_uri))
    const headers = { 'content-type': 'application/json' }
    return (await app.request('/api/v1/iac/import', { method: 'POST', headers, body })).status
  }
  expect(await ask('other', OWN)).toBe(403)
  expect(await ask('mine', 'https://github.com/everybody/infra')).toBe(403)
  server.use(listedRepository('https://github.com/everybody/infra'))
  expect(await ask('other', 'https://github.com/everybody/infra')).toBe(202)
})

test.each([
  ['[a]', 'access.scopes must be a mapping'],
  ['{ a: b }', 'access.scopes.a must be a list'],
  ['{ a: ["https://github.com/acme"] }', 'access.scopes.a.0 must be a repository'],
  ['{ a: ["github.com/acme/infra.git"] }', 'access.scopes.a.0 must be a repository'],
  ['{ a: [], " A": [] }', 'access.scopes names a scope twice'],
])('access.scopes: %s stops the start', async (scopes, problem) => {
  await expect(configOf(`access: { scopes: ${scopes} }`)).rejects.toThrow(problem)
})
