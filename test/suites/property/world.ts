import type { Fetch } from '../../../src/base/http.ts'
import { recordPullRequest } from '../../../src/sessions/pull-requests.ts'
import { createTestCore, type TestCore } from '../../helpers/core.ts'
import { createIssuer } from '../../helpers/issuer.ts'
import { createUser, openSession, runRound } from '../../helpers/sessions.ts'
import type { Known } from './inputs.ts'

const ISSUER = 'https://issuer.example.org'
const YAML = `
oidc: { issuer_url: "${ISSUER}", client_id: core }
services:
  mapping: { enabled: true, endpoint: "http://mapping.test:8081", token_env: T, timeout: 1 }
  authz: { enabled: true, endpoint: "http://authz.test:8084", token_env: T, timeout: 1 }
  notifications: { enabled: true, endpoint: "http://notifications.test:8083", token_env: T, timeout: 1 }
`

export interface World {
  core: TestCore
  known: Known
  /** Values of the Authorization header by caller; null sends none. */
  callers: Record<string, string | null>
  close(): Promise<void>
}

/** Creates a core with users of every role, sessions in every state, and services with random answers. */
export async function createWorld(seed: number): Promise<World> {
  const issuer = await createIssuer(ISSUER)
  const strange = strangeFetch(seed)
  const fetch: Fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input)
    if (url === `${ISSUER}/.well-known/openid-configuration`)
      return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
    if (url === `${ISSUER}/keys`) return Response.json({ keys: issuer.keys })
    return strange(input, init)
  }
  const llm = { complete: () => Promise.reject(new Error('no model here')), search: async () => null }
  const core = await createTestCore({ yaml: YAML, env: { T: 'token-of-the-sidecars' }, context: { fetch, llm } })
  const { sql } = core.context
  const roles = {
    developer: { operation_role: 'developer' },
    devops: { operation_role: 'devops' },
    viewer: { panel_role: 'viewer' },
    editor: { panel_role: 'editor' },
    admin: { operation_role: 'devops', panel_role: 'admin' },
  } as const
  const callers: World['callers'] = {
    nobody: null,
    basic: 'Basic dXNlcjpwdw==',
    garbage: 'Bearer x.y.z',
    empty: 'Bearer ',
  }
  const users: number[] = []
  const uuids: string[] = []
  for (const [name, role] of Object.entries(roles)) {
    const user = await createUser(sql, name, role)
    users.push(user.id)
    callers[name] =
      `Bearer ${await issuer.token(name, { exp: Math.floor(Date.now() / 1000) + 7_200, email: user.email })}`
    uuids.push(...(await createSessions(core, user.id)))
  }
  callers.forged = `${callers.admin?.slice(0, -6)}AAAAAA`
  const repositories = [
    'https://github.com/acme/infra.git',
    'https://git.example.com/a',
    'https://user@github.com/acme/x',
  ]
  return { core, known: { uuids, users, repositories }, callers, close: core.close }
}

async function createSessions(core: TestCore, user_id: number): Promise<string[]> {
  const { context } = core
  const [waiting, done, failed, requested] = [
    await openSession(context, user_id),
    await openSession(context, user_id, { query: 'A %_\\ list', iac_path: 'live' }),
    await openSession(context, user_id, { mode: 'drift' }),
    await openSession(context, user_id),
  ]
  await (await runRound(context, done)).finish('completed', 'GENERATE', [{ user: 'q', assistant: 'a' }])
  await (await runRound(context, failed)).finish('failed', 'runner failed: x')
  await (await runRound(context, requested)).finish('completed', 'GENERATE')
  await recordPullRequest(context, requested, {
    provider: 'GITHUB',
    number: 7,
    url: 'https://github.com/acme/infra/pull/7',
  })
  return [waiting, done, failed, requested]
}

type Answer = () => Response
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json(body, { status, headers })
const STRANGE: Answer[] = [
  json(200, {}),
  json(200, []),
  json(200, null),
  json(200, 'text'),
  json(200, { result: true, message: 'yes', portalUrl: null }),
  json(200, { result: 'yes' }),
  json(200, {
    repo_url: 'https://github.com/acme/infra.git',
    identifier: 'acme/infra',
    engine_provider: 'gcp',
    scope_id: 'a',
  }),
  json(200, { repo_url: 7 }),
  json(202, { delivery_id: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' }),
  json(202, { delivery_id: 'no uuid' }),
  json(201, { number: 3, html_url: 'https://github.com/acme/infra/pull/3', state: 'open' }),
  json(200, { merged: true, state: 'open', mergeable: true, mergeable_state: 'clean' }),
  json(400, { title: 'no' }),
  json(401, { message: 'Bad credentials' }),
  json(403, { message: 'rate limit' }),
  json(404, { message: 'Not Found' }),
  json(405, { message: 'not mergeable' }),
  json(409, { message: 'conflict' }),
  json(422, { message: 'Validation Failed', errors: [{ message: 'exists' }] }),
  () => new Response('<html>', { status: 200, headers: { 'content-type': 'text/html' } }),
  () => new Response('<html>', { status: 502 }),
  () => new Response('{"cut', { status: 200, headers: { 'content-type': 'application/json' } }),
  () => new Response(null, { status: 204 }),
  () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1/' } }),
  () =>
    new Response('001e# service=git-upload-pack\n0000', {
      headers: { 'content-type': 'application/x-git-upload-pack-advertisement' },
    }),
  () => new Response('zzzz', { headers: { 'content-type': 'application/x-git-upload-pack-advertisement' } }),
  () => new Response(new Uint8Array([0xff, 0xfe, 0]), { headers: { 'content-type': 'application/json' } }),
  () => {
    throw new TypeError('fetch failed')
  },
]

/** Plays services with random answers, in an order that the seed decides. */
function strangeFetch(seed: number): Fetch {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return async (_input, init) => {
    init?.signal?.throwIfAborted()
    return (STRANGE[Math.floor(next() * STRANGE.length)] ?? json(200, {}))()
  }
}
