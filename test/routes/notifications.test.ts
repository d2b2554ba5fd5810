import { HttpResponse } from 'msw'
import { beforeAll, describe, expect, it } from 'vitest'
import { answerOf, callOf, refusalOf, type TestCore } from '../helpers/core.ts'
import { createUser } from '../helpers/sessions.ts'
import { askSilent, NO_ANSWERS, provideCoreWithSidecar } from './sidecar.ts'

const PATH = '/api/v1/notifications'
const ENABLED =
  'services: { notifications: { enabled: true, endpoint: "http://notifications.test:8080/", ' +
  'token_env: T, timeout: 1 } }'
const ID = '0b8f3a52-31f6-4f0c-9a0e-6f1f1c3f7a10'
const MESSAGE = {
  kind: 'support.user_question',
  severity: 'info',
  subject: 'Why locked?',
  body: 'I touched **nothing**.',
}
const LINK = { label: 'Session', url: 'https://platform.example.org/s' }
const usual = () => HttpResponse.json({ delivery_id: ID }, { status: 202 })
const { core, sidecar } = provideCoreWithSidecar('http://notifications.test:8080/v1/notify', usual, {
  yaml: ENABLED,
  env: { T: 'token-of-notifications' },
})
let disabled: TestCore['app']
beforeAll(async () => {
  disabled = await core.another({
    yaml: 'services: { notifications: { enabled: false, endpoint: "http://notifications.test:8080" } }',
  })
})

const tell = (changes: object = {}) => core.call('POST', PATH, { json: { ...MESSAGE, ...changes } })

describe('what is delivered', () => {
  it('is the message with the token of the service, and its id is answered', async () => {
    const links = [LINK, { label: 'Home', url: 'http://localhost/path?q=1#x' }]
    const context = { session_id: 'x', nested: { list: [1, null, { a: 'b' }] }, nothing: null }
    expect(await answerOf(tell({ links, context }))).toEqual([202, { delivery_id: ID }])
    const [call] = sidecar.calls
    expect(call?.body).toEqual({ ...MESSAGE, links, context, audience: ['dev@platform.local'] })
    expect(call?.headers.get('authorization')).toBe('Bearer token-of-notifications')
    expect([...(call?.headers.keys() ?? [])].filter((name) => name.startsWith('x-user'))).toEqual([])
  })

  it.each([
    ['absent', {}],
    ['null', { links: null, context: null }],
    ['empty', { links: [], context: {} }],
  ])('has no links and no context when they are %s', async (_, changes) => {
    expect((await tell(changes)).status).toBe(202)
    expect(sidecar.calls[0]?.body).toEqual({ ...MESSAGE, audience: ['dev@platform.local'] })
  })

  it('goes to editors, admins and the caller, to nobody else and to nobody twice', async () => {
    const { sql } = core.database
    for (const role of ['editor', 'viewer', 'admin'] as const) await createUser(sql, role, { panel_role: role })
    await createUser(sql, 'nobody')
    await createUser(sql, 'silent', { panel_role: 'editor', email: null })
    await createUser(sql, 'double', { panel_role: 'editor', email: 'admin@example.org' })
    expect((await tell()).status).toBe(202)
    expect(sidecar.calls[0]?.body).toMatchObject({
      audience: ['editor@example.org', 'admin@example.org', 'dev@platform.local'],
    })
    await sql`INSERT INTO users (issuer, subject, email, panel_role)
      SELECT 'i', 'many-' || n, 'many-' || n || '@example.org', 'editor' FROM generate_series(1, 300) n`
    expect((await tell()).status).toBe(202)
    const { audience } = sidecar.calls[1]?.body as { audience: string[] }
    expect(audience).toHaveLength(256)
    expect(audience).toContain('dev@platform.local')
  })

  it.each([
    ['the longest texts', { kind: '😀'.repeat(128), subject: '😀'.repeat(256), body: '😀'.repeat(16_384) }],
    ['the most links', { links: Array(32).fill(LINK) }],
    ['the longest link', { links: [{ label: 'x'.repeat(128), url: `https://h/${'x'.repeat(2038)}` }] }],
    ['lines in the body', { body: 'a\n\nb' }],
    ...['info', 'warning', 'error', 'critical'].map((severity): [string, object] => [severity, { severity }]),
  ])('may be %s', async (_, changes) => {
    expect((await tell(changes)).status).toBe(202)
    expect(sidecar.calls[0]?.body).toMatchObject(changes)
  })
})

describe('body', () => {
  const refused: [string, object, object][] = [
    ...['kind', 'severity', 'subject', 'body'].flatMap((key): [string, object, object][] => [
      [`no ${key}`, { [key]: undefined }, { type: 'missing', loc: ['body', key] }],
      [`${key} null`, { [key]: null }, { loc: ['body', key] }],
      [`${key} as a number`, { [key]: 7 }, { loc: ['body', key] }],
      [`an empty ${key}`, { [key]: '' }, { loc: ['body', key] }],
    ]),
    [
      'a long kind',
      { kind: 'x'.repeat(129) },
      { type: 'string_too_long', msg: 'String should have at most 128 characters' },
    ],
    ['a long subject', { subject: 'x'.repeat(257) }, { msg: 'String should have at most 256 characters' }],
    ['a long body', { body: 'x'.repeat(16_385) }, { msg: 'String should have at most 16384 characters' }],
    [
      'another severity',
      { severity: 'fatal' },
      { type: 'enum', msg: "Input should be 'info', 'warning', 'error' or 'critical'" },
    ],
    ...['a\nb', 'a\rb', 'a\u2028b', 'a\u0085b', 'a\n', 'a\u0010b', 'a\tb', 'a\u009fb'].map(
      (subject): [string, object, object] => [
        `the subject ${JSON.stringify(subject)}`,
        { subject },
        { type: 'value_error', loc: ['body', 'subject'] },
      ],
    ),
    ['an audience', { audience: ['a@example.org'] }, { type: 'extra_forbidden', loc: ['body', 'audience'] }],
    ['a further key', { other: null }, { type: 'extra_forbidden', loc: ['body', 'other'] }],
    [
      '33 links',
      { links: Array(33).fill(LINK) },
      { type: 'too_long', msg: 'List should have at most 32 items after validation, not 33' },
    ],
    ['links that are no list', { links: LINK }, { type: 'list_type' }],
    ['a link without label', { links: [{ url: LINK.url }] }, { type: 'missing', loc: ['body', 'links', 0, 'label'] }],
    ['a link with an empty label', { links: [{ ...LINK, label: '' }] }, { type: 'string_too_short' }],
    ['a link with a long label', { links: [{ ...LINK, label: 'x'.repeat(129) }] }, { type: 'string_too_long' }],
    [
      'a link with more keys',
      { links: [{ ...LINK, rel: 'x' }] },
      { type: 'extra_forbidden', loc: ['body', 'links', 0, 'rel'] },
    ],
    ['a link to nowhere', { links: [{ label: 'x' }] }, { type: 'missing', loc: ['body', 'links', 0, 'url'] }],
    ['a long link', { links: [{ label: 'x', url: `https://h/${'x'.repeat(2039)}` }] }, { type: 'string_too_long' }],
    ...[
      '/path',
      'path',
      'ftp://h/x',
      'javascript:alert(1)',
      'https://',
      'https:///x',
      'https:h',
      'http://a b',
      '//h/x',
      'https://h\\x',
    ].map((url): [string, object, object] => [
      `a link to ${url}`,
      { links: [{ label: 'x', url }] },
      { loc: ['body', 'links', 0, 'url'] },
    ]),
    ['a list as context', { context: [] }, { loc: ['body', 'context'] }],
    ['a text as context', { context: 'x' }, { loc: ['body', 'context'] }],
  ]
  it.each(refused)('refuses %s, enabled or not, and tells nobody', async (_, changes, problem) => {
    const json = { ...MESSAGE, ...changes }
    const other = await callOf(disabled)('POST', PATH, { json })
    for (const answer of [await core.call('POST', PATH, { json }), other])
      expect([answer.status, (await answer.json()).detail]).toMatchObject([422, [problem]])
    expect(sidecar.calls).toEqual([])
  })
})

describe('a sidecar', () => {
  const LOST = [502, { detail: 'Notification was not delivered.' }]

  it('that is disabled is not contacted', async () => {
    expect(await refusalOf(callOf(disabled)('POST', PATH, { json: MESSAGE }))).toEqual([
      503,
      'Notifications are disabled.',
    ])
    expect(sidecar.calls).toEqual([])
  })

  it.each([
    ...NO_ANSWERS,
    ['200', () => HttpResponse.json({ delivery_id: ID })],
    ['202 without id', () => HttpResponse.json({}, { status: 202 })],
    ['202 with an empty id', () => HttpResponse.json({ delivery_id: '' }, { status: 202 })],
    ['202 with an id that is no text', () => HttpResponse.json({ delivery_id: 7 }, { status: 202 })],
    ['202 with a page', () => new HttpResponse('<html>', { status: 202 })],
    ['a broken connection', () => HttpResponse.error()],
  ] as [string, () => Response][])('that answers with %s did not deliver', async (_, respond) => {
    sidecar.answers(respond)
    expect(await answerOf(tell())).toEqual(LOST)
  })

  it('without an endpoint did not deliver', async () => {
    const app = await core.another({
      yaml: 'services: { notifications: { enabled: true, token_env: T } }',
      env: { T: 'x' },
    })
    expect(await answerOf(callOf(app)('POST', PATH, { json: MESSAGE }))).toEqual(LOST)
  })

  it('that is silent is given up after the configured timeout', async () => {
    const { answer, limits } = await askSilent(sidecar, 1_000, tell)
    expect([answer.status, await answer.json()]).toEqual(LOST)
    expect(limits).toEqual([1_000])
  })
})
