import { HttpResponse, http } from 'msw'
import { beforeEach, expect, test } from 'vitest'
import type { AuditRecord } from '../../../src/access/audit/list.ts'
import { createTestCore } from '../../helpers/core.ts'
import { interceptRequests } from '../../helpers/intercept.ts'
import { createIssuer } from '../../helpers/issuer.ts'
import { openSession } from '../../helpers/sessions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { attack } from './attack.ts'

const GROUP = 'tokens that claim to be somebody else'
const VICTIM = 'victim@example.org'
const server = interceptRequests()
/** The requests to the authorization service, and the fields that it asks for. */
const asked: Record<string, unknown>[] = []
let wanted: string | null = null
let status = 200

const world = startOnce(async () => {
  const issuer = await createIssuer()
  server.use(...issuer.handlers)
  const core = await createTestCore({
    yaml: `
oidc: { issuer_url: "${issuer.url}", client_id: core }
services: { authz: { enabled: true, enforce: true, endpoint: "http://authz.test", token_env: T } }`,
    env: { T: 'token-of-authz' },
  })
  return { ...core, issuer }
})
beforeEach(() => {
  asked.length = 0
  wanted = null
  status = 200
  server.use(
    http.post('http://authz.test/v1/check', async ({ request }) => {
      const check = await request.json()
      asked.push(Object(check))
      const headers: Record<string, string> = wanted === null ? {} : { 'x-check-fields': wanted }
      return HttpResponse.json({ authorized: Object(check).user_id === VICTIM }, { status, headers })
    }),
  )
})

let number = 0
const newSubject = () => `attacker-${++number}`
const as = async (subject: string, claims: object, path: string, json?: unknown) =>
  world.call(json === undefined ? 'GET' : 'POST', path, {
    json,
    token: await world.issuer.token(subject, { ...claims }),
  })
const authorize = async (subject: string, claims: object) => {
  const body = { cloud: 'aws', project_name: 'https://github.com/acme/infra', environment: '' }
  return (await (await as(subject, claims, '/api/v1/auth/authorize', body)).json()).result
}
const meOf = async (subject: string, claims: object) => (await as(subject, claims, '/api/v1/users/me')).json()
/** Cancels a round, and returns what the audit then says of it. */
async function actOnRound(subject: string, claims: object): Promise<AuditRecord> {
  const { id } = await meOf(subject, claims)
  const session_id = await openSession(world.context, id)
  expect((await as(subject, claims, '/api/v1/iac/cancel', { session_id })).status).toBe(202)
  const [entry] = await world.database.sql<AuditRecord[]>`
    SELECT * FROM audit_records WHERE session_uuid = ${session_id} AND action = 'round_cancelled'`
  if (!entry) throw new Error('the audit has no entry')
  return entry
}

const CLAIMS: [string, object][] = [
  ['an unverified e-mail', { email: VICTIM, email_verified: false }],
  ['a user name beside an unverified e-mail', { preferred_username: VICTIM, email_verified: false }],
  ['an e-mail whose verification is no truth value', { email: VICTIM, email_verified: 'no' }],
]
for (const [title, claims] of CLAIMS)
  attack(GROUP, `${title}, sent to the authorization service and shown in the audit`, async () => {
    const subject = newSubject()
    expect(await authorize(subject, claims)).toBe(false)
    expect(asked.map(({ user_id }) => user_id)).toEqual([subject])
    const entry = await actOnRound(subject, { ...claims, name: VICTIM })
    expect(entry).toMatchObject({ actor: `user-${entry.user_id}`, subject })
    return `the service is asked about ${subject}, and the audit names ${entry.actor}`
  })

attack(GROUP, 'an e-mail that was stored before it was called unverified', async () => {
  const subject = newSubject()
  expect((await meOf(subject, { email: VICTIM })).email).toBe(VICTIM)
  const { email } = await meOf(subject, { email: VICTIM, email_verified: false })
  expect(email).toBeNull()
  return 'the stored e-mail is removed at the next request'
})

attack(GROUP, 'the name of the platform, as name or e-mail', async () => {
  const names: string[] = []
  for (const claims of [{ name: 'platform' }, { email: 'Platform' }, { preferred_username: ' platform ' }]) {
    const entry = await actOnRound(newSubject(), claims)
    names.push(entry.actor)
    const created = await world.database.sql<{ actor: string; subject: string }[]>`
      SELECT actor, subject FROM audit_records WHERE user_id = ${entry.user_id} AND action = 'user_created'`
    expect(created).toEqual([{ actor: `user-${entry.user_id}`, subject: entry.subject }])
  }
  expect(names.filter((name) => !/^user-\d+$/.test(name))).toEqual([])
  return `the audit names ${names.join(', ')}`
})

attack(GROUP, 'two subjects with one e-mail, at a service that tells them apart', async () => {
  wanted = ' issuer, subject ,colour'
  const subject = newSubject()
  await authorize(subject, { email: VICTIM })
  const plain = { user_id: VICTIM, cloud: 'aws', project: 'https://github.com/acme/infra' }
  expect(asked).toEqual([plain, { ...plain, issuer: world.issuer.url, subject }])
  return 'issuer and subject are sent before the decision counts'
})

test('a service gets the keys that it listed in its last answer, and none after a fault', async () => {
  wanted = 'subject'
  const subject = newSubject()
  await authorize(subject, {})
  asked.length = 0
  await authorize(subject, {})
  expect(asked).toMatchObject([{ subject }])
  status = 422
  wanted = null
  await authorize(subject, {})
  status = 200
  await authorize(subject, {})
  expect(asked.map((check) => 'subject' in check)).toEqual([true, true, false])
})
