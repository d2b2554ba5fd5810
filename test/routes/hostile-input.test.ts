import { describe, expect, it } from 'vitest'
import { createTestCore } from '../helpers/core.ts'
import { startOnce } from '../helpers/start-once.ts'

const core = startOnce(createTestCore)

const POISON = [
  '\0',
  'a\0b',
  '\ud800',
  '\u2028',
  "'; DROP TABLE sessions; --",
  '%',
  '\\',
  '_%\\%',
  '../../etc/passwd',
  '9'.repeat(400),
  '-1',
  '1e309',
  'NaN',
  '{}',
  '[]',
  '😀'.repeat(300),
  '{{7*7}}',
  '\u0000\u0001\u001f',
  'constructor',
  '__proto__',
]
const VALUES: unknown[] = [...POISON, null, true, 0, -1, 1.5, 1e308, [], [[]], {}, { a: { b: {} } }]

/** Valid texts of a search. The others have a forbidden character or more than 200. */
const SEARCHABLE = POISON.filter((text) => !text.includes('\0') && text.length <= 200)

describe('poisoned input is never a 500', () => {
  it.each([
    ['page', [], []],
    ['page_size', [], []],
    // Empty text and white space are no filter.
    ['operation', ['\u2028'], ['&&']],
    ['status', ['\u2028'], ['&&']],
    ['search', SEARCHABLE, ['%', '%ff%fe', '%ED%A0%80', '=', '&&', '[]=1']],
  ])('in the parameter %s', async (name, accepted: string[], accepted_raw: string[]) => {
    const statusOf = async (query: string) => (await core.call('GET', `/api/v1/sessions/list?${query}`)).status
    for (const value of POISON) {
      const status = await statusOf(String(new URLSearchParams({ [name]: value })))
      expect(status, JSON.stringify(value)).toBe(accepted.includes(value) ? 200 : 422)
    }
    for (const raw of ['%', '%00', '%ff%fe', '%ED%A0%80', '=', '&&', '[]=1'])
      expect(await statusOf(`${name}=${raw}`), raw).toBe(accepted_raw.includes(raw) ? 200 : 422)
  })

  it('in paths and ids', async () => {
    for (const value of [...POISON.map(encodeURIComponentSafely), '%00', '%', '%ff', '%2e%2e']) {
      for (const stream of ['subscribe', 'activity', 'output'])
        expect((await core.call('GET', `/api/v1/events/${stream}/${value}`)).status, value).toBeOneOf([404, 422])
      expect((await core.call('GET', `/api/v1/sessions?id=${value}`)).status, value).toBe(422)
      for (const path of [value, `${value}/`, `a${value}b/`]) {
        const answer = await core.call('GET', `/api/docs/assets/${path}`)
        expect(answer.status, path).toBeOneOf([307, 404])
        const location = answer.headers.get('location')
        if (location !== null) expect(location, path).toMatch(/^\/api\/docs(\/[!-~]+)?$/)
      }
    }
  })

  it('in booleans', async () => {
    const id = crypto.randomUUID()
    for (const value of VALUES.filter((one) => typeof one !== 'boolean' && one !== 0)) {
      const json = { locked: value, reason: 'r' }
      const answer = await core.call('PATCH', `/api/v1/admin/sessions/${id}/toggle_lock`, { json })
      expect(answer.status, JSON.stringify(value)).toBe(422)
      if (typeof value !== 'string') continue
      const query = new URLSearchParams({ id, include_history: value })
      expect((await core.call('GET', `/api/v1/sessions?${query}`)).status, value).toBe(422)
    }
  })

  it.each(['q', 'repo_uri', 'scope_id', 'engine_providers', 'iac_path', 'session_id'])('in the key %s', async (key) => {
    const session = { q: 'x', session_id: crypto.randomUUID() }
    for (const value of VALUES) {
      const answer = await core.call('POST', '/api/v1/iac/generate', { json: { ...session, [key]: value } })
      expect(answer.status, `${key}=${JSON.stringify(value)}`).toBeOneOf([404, 422])
    }
  })

  const LISTS: [list: string, parameters: string][] = [
    ['sessions/list', 'page page_size operation status search user_email'],
    ['users', 'page page_size operation status search user_email'],
    ['audit', 'action user_email session_id after before format page page_size'],
  ]
  it.each(
    LISTS.flatMap(([list, parameters]) => parameters.split(' ').map((name) => [list, name] as const)),
  )('in a parameter of the admin list %s: %s', async (list, name) => {
    for (const value of POISON) {
      const answer = await core.call('GET', `/api/v1/admin/${list}?${new URLSearchParams({ [name]: value })}`)
      expect(answer.status, JSON.stringify(value)).toBeOneOf([200, 422])
    }
  })

  it('in ids of the admin routes', async () => {
    const json = { locked: true, operation_role: 'devops', panel_role: 'admin' }
    for (const value of [...POISON.map(encodeURIComponentSafely), '%00', '%', '%ff', '%2e%2e']) {
      expect((await core.call('GET', `/api/v1/admin/sessions?id=${value}`)).status, value).toBe(422)
      const locked = await core.call('PATCH', `/api/v1/admin/sessions/${value}/toggle_lock`, { json })
      expect(locked.status, value).toBeOneOf([404, 422])
      const assigned = await core.call('PUT', `/api/v1/admin/users/${value}/roles`, { json })
      expect(assigned.status, value).toBeOneOf([404, 422])
    }
  })

  it.each([
    ['POST', '/auth/authorize', { cloud: 'aws', project_name: 'p', environment: '' }],
    ['POST', '/mapping/resolve', { identifier: 'x', engine_provider: 'aws' }],
    [
      'POST',
      '/notifications',
      { kind: 'k', severity: 'info', subject: 's', body: 'b', links: [{ label: 'l', url: 'https://h' }], context: {} },
    ],
    ['PATCH', `/admin/sessions/${crypto.randomUUID()}/toggle_lock`, { locked: true }],
    ['PUT', '/admin/users/999999/roles', { operation_role: 'devops', panel_role: 'admin' }],
    ['POST', '/iac/drift', { q: 'x', session_id: crypto.randomUUID(), is_partial: true }],
    ['POST', '/iac/import', { q: 'x', session_id: crypto.randomUUID(), is_partial: true }],
    ['POST', '/iac/apply', { session_id: crypto.randomUUID() }],
    ['POST', '/iac/seal/verify', { session_id: crypto.randomUUID() }],
    ['POST', '/iac/cancel', { session_id: crypto.randomUUID() }],
    ['PUT', '/repository/pr/merge', { session_id: crypto.randomUUID() }],
  ])('in each key of %s %s', async (method, path, body) => {
    for (const key of Object.keys(body))
      for (const value of VALUES) {
        const answer = await core.call(method, `/api/v1${path}`, { json: { ...body, [key]: value } })
        // 503: the message is valid, but notifications are disabled.
        expect(answer.status, `${key}=${JSON.stringify(value)}`).toBeOneOf([200, 404, 422, 503])
      }
  })

  it('when it is nested deeper than the stack', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const headers = { 'content-type': 'application/json' }
    for (const body of [deep, `{"q": ${deep}}`, `{"other": ${deep}}`]) {
      const answer = await core.app.request('/api/v1/iac/generate', { method: 'POST', body, headers })
      expect(answer.status).toBe(422)
    }
  })
})

describe('the echo of a refused request', () => {
  const post = async (json: unknown) => (await core.call('POST', '/api/v1/iac/generate', { json })).text()

  it('shows small values and no large ones', async () => {
    const missing = { type: 'missing', loc: ['body', 'q'], msg: 'Field required' }
    const small = { scope_id: 'x' }
    expect(JSON.parse(await post(small))).toEqual({ detail: [{ ...missing, input: small }] })
    const { detail } = JSON.parse(await post({ scope_id: 'x'.repeat(1_000_000) }))
    expect(detail).toMatchObject([
      { ...missing, input: null },
      { type: 'string_too_long', loc: ['body', 'scope_id'], input: null },
    ])
    expect(JSON.stringify(detail).length).toBeLessThan(1_000)
  })

  it('hides addresses with a secret under any key', async () => {
    const uri = 'https://user:hunter2@git.example.com/x'
    const more = [{ other: uri }, { other: [{ a: uri }] }, { engine_providers: uri }]
    for (const json of [{ session_id: uri }, { q: 7, repo_uri: uri }, ...more]) {
      const answer = await post(json)
      expect(answer).toContain('"input":null')
      expect(answer).not.toContain('hunter2')
    }
  })
})

/** Encodes as a client would, lone surrogates included. */
function encodeURIComponentSafely(value: string): string {
  return encodeURIComponent(value.toWellFormed())
}
