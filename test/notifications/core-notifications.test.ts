import { HttpResponse, http } from 'msw'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../config/types.ts'
import { createLogger } from '../../src/base/log.ts'
import { type NotificationContext, notifyOfEvent } from '../../src/notifications/notify.ts'
import type { SessionFacts } from '../../src/rounds/round.ts'
import { configOf } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createTestDatabase, provideDatabase } from '../helpers/postgres.ts'

const ENDPOINT = 'http://notifications.test:8080'
const SESSION: SessionFacts = {
  id: 1,
  uuid: '3f2b8c1e-6a57-4f0e-9d31-0c7b5a8e4d12',
  user_id: 7,
  username: 'owner@example.org',
  operation: 'generate',
  provider: 'aws',
  scope_id: '123456789012',
  workspace: { uri: 'https://git.example.org/o/r', branch: 'Platform/2026-01-31_235959-1a2b', root_path: null },
  first_query: 'a bucket please',
  is_blocked: true,
  in_flight: true,
  current_status: 'report',
}

const server = interceptRequests()
const database = provideDatabase()
let config: Config
let sent: { body: Record<string, unknown>; headers: Headers }[]
let lines: Record<string, unknown>[]

beforeAll(async () => {
  const yaml = `services: {notifications: {enabled: true, endpoint: '${ENDPOINT}', token_env: N_TOKEN, timeout: 0.5}}`
  config = await configOf(yaml, { N_TOKEN: 'token-of-notifications' })
})
beforeEach(async () => {
  sent = []
  lines = []
  await database.sql`TRUNCATE users CASCADE`
  answer(() => HttpResponse.json({ delivery_id: 'd-1' }, { status: 202 }))
})

function answer(respond: () => Response | Promise<Response>): void {
  server.use(
    http.post(`${ENDPOINT}/v1/notify`, async ({ request }) => {
      sent.push({ body: (await request.json()) as Record<string, unknown>, headers: request.headers })
      return respond()
    }),
  )
}

const context = (change: Partial<NotificationContext> = {}): NotificationContext => ({
  config,
  fetch: (input, init) => fetch(input, init),
  sql: database.sql,
  log: createLogger({ write: (line) => lines.push(JSON.parse(line)) }),
  ...change,
})
const notify = (body = 'x', session = SESSION, change: Partial<NotificationContext> = {}) =>
  notifyOfEvent(context(change), session, 'system.exception.failure', { round: 2, body })
const addUser = (email: string | null, panel_role: 'viewer' | 'editor' | 'admin' | null) =>
  database.sql`INSERT INTO users (issuer, subject, email, panel_role) VALUES ('i', ${crypto.randomUUID()}, ${email}, ${panel_role})`

describe('what is said', () => {
  it.each([
    ['iac.compliance.failed', 'warning', `Compliance check failed – session ${SESSION.uuid}`],
    ['iac.impact.high', 'warning', `High impact changes – session ${SESSION.uuid}`],
    ['iac.apply.failure', 'error', `Infrastructure deployment failure – session ${SESSION.uuid}`],
    ['system.exception.failure', 'error', `System Core exception failure – session ${SESSION.uuid}`],
  ] as const)('%s: severity, subject and body', async (kind, severity, subject) => {
    await notifyOfEvent(context(), SESSION, kind, { round: 2, body: 'A rule was broken.' })
    expect(sent.map(({ body }) => body)).toMatchObject([{ kind, severity, subject, body: 'A rule was broken.' }])
  })

  it('the facts of the session, without unknown ones, and nothing the contract does not name', async () => {
    await notify()
    expect(Object.keys(sent[0]?.body ?? {}).sort()).toEqual([
      'audience',
      'body',
      'context',
      'kind',
      'severity',
      'subject',
    ])
    expect(sent[0]?.body.context).toEqual({
      session_id: SESSION.uuid,
      operation: 'generate',
      cloud: 'aws',
      project: '123456789012',
      repository: 'https://git.example.org/o/r',
      branch: 'Platform/2026-01-31_235959-1a2b',
      round: 2,
      user: 'owner@example.org',
      request: 'a bucket please',
    })
  })

  it('the bearer token, and no user headers', async () => {
    await notify()
    const headers = sent[0]?.headers
    expect(headers?.get('authorization')).toBe('Bearer token-of-notifications')
    for (const name of ['x-user-id', 'x-user-email']) expect(headers?.has(name)).toBe(false)
  })
})

describe('limits of the contract', () => {
  const bodyOf = async (message: string) => {
    await notify(message)
    return sent[0]?.body.body as string
  }

  it('cuts a long body with an ellipsis, leaving the longest one whole', async () => {
    const cut = await bodyOf('x'.repeat(16_385))
    expect(cut).toHaveLength(16_384)
    expect(cut.endsWith('x…')).toBe(true)
    sent = []
    expect(await bodyOf('x'.repeat(16_384))).toBe('x'.repeat(16_384))
  })

  it('cuts no character in half', async () => {
    expect((await bodyOf('😀'.repeat(9000))).isWellFormed()).toBe(true)
    sent = []
    expect((await bodyOf(`x${'😀'.repeat(9000)}`)).isWellFormed()).toBe(true)
  })

  it.each(['', ' \n '])('an empty body becomes a dash', async (message) => {
    expect(await bodyOf(message)).toBe('-')
  })

  it('the subject stays one short line', async () => {
    await notify('x', { ...SESSION, uuid: `a\r\nb\u2028${'c'.repeat(300)}` })
    const subject = sent[0]?.body.subject as string
    expect(subject).toHaveLength(256)
    expect(subject).toMatch(/^System Core exception failure – session a b c+…$/)
  })

  it('at most 256 recipients, the owner among them', async () => {
    for (let i = 0; i < 260; i++) await addUser(`editor-${i}@example.org`, 'editor')
    await notify()
    expect(sent[0]?.body.audience).toHaveLength(256)
    expect(sent[0]?.body.audience).toContain('owner@example.org')
  })
})

describe('audience', () => {
  const audience = async (session = SESSION, change: Partial<NotificationContext> = {}) => {
    await notify('x', session, change)
    return sent[0]?.body.audience
  }

  it('is the staff in store order, then the owner, nobody twice', async () => {
    await addUser('second@example.org', 'admin')
    await addUser('viewer@example.org', 'viewer')
    await addUser('owner@example.org', 'admin')
    await addUser('nobody@example.org', null)
    await addUser('first@example.org', 'editor')
    await addUser('second@example.org', 'editor')
    await addUser(null, 'admin')
    expect(await audience()).toEqual(['second@example.org', 'first@example.org', 'owner@example.org'])
  })

  it('is the staff alone for an owner without e-mail', async () => {
    await addUser('first@example.org', 'editor')
    expect(await audience({ ...SESSION, username: 'user-7' })).toEqual(['first@example.org'])
  })

  it('is left out when there is nobody', async () => {
    await audience({ ...SESSION, username: 'user-7' })
    expect(sent[0]?.body).not.toHaveProperty('audience')
  })

  it('is the owner alone when the staff cannot be read', async () => {
    const other = await createTestDatabase()
    await other.sql`DROP TABLE users CASCADE`
    expect(await audience(SESSION, { sql: other.sql })).toEqual(['owner@example.org'])
    await other.drop()
  })
})

describe('best effort', () => {
  const failure = expect.objectContaining({
    level: 'warn',
    message: "Failed to send 'system.exception.failure' notification",
  })

  it.each([
    ['200', () => HttpResponse.json({ delivery_id: 'd' })],
    ['400', () => new HttpResponse('no', { status: 400 })],
    ['403', () => new HttpResponse('no', { status: 403 })],
    ['422', () => HttpResponse.json({ title: 'Request validation failed' }, { status: 422 })],
    ['502', () => HttpResponse.json({ title: 'Downstream channel error' }, { status: 502 })],
    ['a broken connection', () => HttpResponse.error()],
    ['202 without an id', () => HttpResponse.json({}, { status: 202 })],
    ['202 with garbage', () => new HttpResponse('<html>', { status: 202 })],
    ['silence', () => new Promise<Response>(() => {})],
    [
      '202 without an end',
      () => new HttpResponse(new ReadableStream({ pull: () => new Promise(() => {}) }), { status: 202 }),
    ],
  ])('%s is one line in the log', async (_name, respond) => {
    answer(respond)
    await notify()
    expect(lines).toEqual([failure])
  })

  it.each([
    ['disabled', { enabled: false }],
    ['without endpoint', { endpoint: '' }],
  ])('a service that is %s is not contacted', async (_name, change) => {
    const services = { ...config.services, notifications: { ...config.services.notifications, ...change } }
    await notify('x', SESSION, { config: { ...config, services } })
    expect({ sent, lines }).toEqual({ sent: [], lines: [] })
  })
})
