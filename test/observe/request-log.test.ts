import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fetch } from '../../src/base/http.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { createIssuer } from '../helpers/issuer.ts'
import { openSession } from '../helpers/sessions.ts'

const MODEL_KEY = 'sk-very-secret-model-key'
const PASSWORD = 'hunter2-in-a-url'
const ISSUER = 'https://issuer.example.org'

let core: TestCore
let token: string
beforeAll(async () => {
  const issuer = await createIssuer(ISSUER)
  token = await issuer.token('ada')
  const fetch: Fetch = async (input) => {
    const url = String(input)
    if (url === `${ISSUER}/keys`) return Response.json({ keys: issuer.keys })
    if (url.startsWith(ISSUER)) return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
    // Some services repeat the credentials in their refusal.
    return Response.json({ error: { message: `bad credentials ${MODEL_KEY} ${PASSWORD}` } }, { status: 401 })
  }
  core = await createTestCore({ yaml: `oidc: { issuer_url: "${ISSUER}", client_id: core }`, context: { fetch } })
})
afterAll(() => core.close())

const text = () => JSON.stringify(core.log)

it('keeps tokens, passwords in addresses and what was searched for out of the log', async () => {
  const post = (json: unknown) => core.call('POST', '/api/v1/iac/generate', { json, token })
  const first = { q: 'a private wish', scope_id: 'acme', engine_providers: 'aws' }
  await post({ ...first, repo_uri: `https://ada:${PASSWORD}@git.example.com/x` })
  await post({ ...first, repo_uri: 'https://git.example.com/x' })
  await core.call('POST', '/api/v1/repository/parse', { json: { repo_uri: 'https://git.example.com/x' }, token })
  await core.call('GET', `/api/v1/sessions/list?search=${PASSWORD}`, { token })
  await core.call('GET', '/api/v1/users/me', { token: `${token.slice(0, -8)}AAAAAAAA` })
  await core.call('GET', '/api/v1/users/me', { token: 'a-token-of-another-kind' })
  expect(core.log.filter(({ message }) => message === 'request')).toHaveLength(6)
  const [, , signature = ''] = token.split('.')
  for (const secret of [token, signature, 'AAAAAAAA', 'a-token-of-another-kind', PASSWORD, 'a private wish'])
    expect(text()).not.toContain(secret)
})

it('keeps the key of a model out of the log and out of the error', async () => {
  const llm = createLlmClient(
    { ...core.context.config.llm, credentials: { ANTHROPIC_API_KEY: MODEL_KEY } },
    { fetch: core.context.fetch, log: core.context.log, backoffMs: 1 },
  )
  const failure = await llm
    .complete({ role: 'main', messages: [{ role: 'user', content: 'x' }] })
    .catch((error: Error) => error.message)
  expect(failure).toContain('Inference call to')
  expect(failure).not.toContain(MODEL_KEY)
  expect(text()).not.toContain(MODEL_KEY)
})

it('ties the lines of a request together and names the session', async () => {
  const { id } = await (await core.call('GET', '/api/v1/users/me', { token })).json()
  const uuid = await openSession(core.context, id)
  core.log.length = 0
  await core.call('GET', `/api/v1/sessions?id=${uuid}`, { token, headers: { 'x-request-id': 'trace-7' } })
  await core.call('POST', '/api/v1/iac/generate', {
    json: { q: 'more', session_id: uuid },
    token,
    headers: { 'x-request-id': 'trace-8' },
  })
  const ends = core.log.filter(({ message }) => message === 'request')
  expect(ends).toMatchObject([
    { request_id: 'trace-7', user_id: id, session_id: uuid, status: 200 },
    { request_id: 'trace-8', user_id: id, session_id: uuid, status: 202 },
  ])
})
