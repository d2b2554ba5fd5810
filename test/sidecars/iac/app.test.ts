import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { preferredWait } from '../../../sidecars/iac/jobs/routes.ts'
import { ROUTES } from '../../../sidecars/iac/requests.ts'
import { SCOPE, startFakeService, TOKEN } from './service.ts'

const service = await startFakeService()
const workspace_path = await service.workspace({ 'command.sh': 'echo "$@"' })

describe('token', () => {
  const validate = (authorization: string) =>
    service.request('POST', '/v1/validate', { json: {}, headers: { authorization } })

  it.each(['', 'Basic abc', 'Bearer', 'Bearer a b'])('%j is malformed', async (value) => {
    const answer = await validate(value)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.body).toEqual({ type: 'about:blank', title: 'Missing or malformed bearer credentials.', status: 401 })
  })

  it.each([`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, 'Bearer x'])('%j is invalid', async (value) => {
    const answer = await validate(value)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.body.title).toBe('Invalid bearer token.')
  })

  it('accepts any letter case of the scheme', async () => {
    expect((await validate(`bearer ${TOKEN}`)).status).toBe(422)
    expect((await validate(`BEARER   ${TOKEN}`)).status).toBe(422)
  })

  it('guards every route below /v1, known or not, and no other', async () => {
    const headers = { authorization: '' }
    for (const path of [...Object.values(ROUTES), '/v1/unknown'])
      expect((await service.request('POST', path, { headers })).status).toBe(401)
    expect((await service.request('GET', '/v1/jobs/x', { headers })).status).toBe(401)
    expect((await service.request('GET', '/v1/engine', { headers })).status).toBe(401)
    const health = await service.request('GET', '/healthz', { headers })
    expect(health).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(Object.keys(health.body)).toEqual(['status'])
  })

  it('a blank one accepts everything', async () => {
    const open = await startFakeService({ PLATFORM_IAC_TOKEN: ' ' })
    expect((await open.request('POST', '/v1/validate', { json: {}, headers: { authorization: '' } })).status).toBe(422)
  })
})

describe('bodies', () => {
  const long = (length: number) => 'x'.repeat(length)
  const plan = () => ({ workspace_path, ...SCOPE, plan_file: 'p' })
  const importing = () => ({ workspace_path, ...SCOPE, address: 'a.b', resource_id: 'i' })
  const status = async (path: string, json: object) => (await service.request('POST', path, { json })).status

  it.each([
    ['a full list of longest targets', () => ({ targets: Array(256).fill(long(300)) }), 202],
    ['257 targets', () => ({ targets: Array(257).fill('a.b') }), 422],
    ['a target of 4097', () => ({ targets: [long(4097)] }), 422],
    ['an empty target', () => ({ targets: [''] }), 422],
    ['a target that is an option', () => ({ targets: ['-var=x=1'] }), 422],
    ['a target with NUL', () => ({ targets: ['a\0b'] }), 422],
    ['null targets', () => ({ targets: null }), 422],
    ['the longest plan file', () => ({ plan_file: long(128) }), 202],
    ['a plan file of 129', () => ({ plan_file: long(129) }), 422],
    ['a plan file elsewhere', () => ({ plan_file: '../p' }), 422],
    ['a plan file .', () => ({ plan_file: '.' }), 422],
    ['a plan file ..', () => ({ plan_file: '..' }), 422],
    ['a plan file that is an option', () => ({ plan_file: '-x' }), 422],
    ['the longest scope', () => ({ scope_id: long(1024) }), 202],
    ['a scope of 1025', () => ({ scope_id: long(1025) }), 422],
    ['an empty scope', () => ({ scope_id: '' }), 422],
    ['a cloud in capitals', () => ({ engine_provider: 'AWS' }), 422],
    ['an unknown cloud', () => ({ engine_provider: 'ibm' }), 422],
    ['a relative workspace', () => ({ workspace_path: 'x' }), 422],
    ['a workspace of 4097', () => ({ workspace_path: `/${long(4096)}` }), 422],
    ['a workspace of 4096', () => ({ workspace_path: `/${long(4095)}` }), 404],
    ['an undeclared key', () => ({ lock: false }), 422],
  ])('plan with %s: %s', async (_name, change, expected) => {
    expect(await status('/v1/plan', { ...plan(), ...change() })).toBe(expected)
  })

  it.each([
    ['an address of 4097', { address: long(4097) }, 422],
    ['an address that is an option', { address: '-config=/etc' }, 422],
    ['a resource id that is an option', { resource_id: '-x' }, 422],
    ['an empty resource id', { resource_id: '' }, 422],
    ['the longest resource id', { resource_id: long(4096) }, 202],
  ])('import with %s', async (_name, change, expected) => {
    expect(await status('/v1/import', { ...importing(), ...change })).toBe(expected)
  })

  it.each(['', '{', '[]', 'null', '"x"', '\uFFFF{}'])('%j is no body', async (text) => {
    const answer = await service.request('POST', '/v1/plan', { text })
    expect(answer.status).toBe(422)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.body).toMatchObject({ type: 'about:blank', title: 'Request validation failed', status: 422 })
  })

  it('lists every violation', async () => {
    const { body } = await service.request('POST', '/v1/plan', { json: { workspace_path: '', extra: 1 } })
    for (const name of ['workspace_path', 'scope_id', 'engine_provider', 'plan_file', 'extra'])
      expect(body.detail).toContain(name)
  })

  it('refuses a body beyond any request', async () => {
    const answer = await service.request('POST', '/v1/plan', { text: `"${long(9 * 1024 * 1024)}"` })
    expect(answer.status).toBe(413)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  it('are checked after the token and before the workspace', async () => {
    const json = { workspace_path: '/none', extra: 1 }
    expect((await service.request('POST', '/v1/validate', { json, headers: { authorization: '' } })).status).toBe(401)
    expect((await service.request('POST', '/v1/validate', { json })).status).toBe(422)
    const missing = await service.request('POST', '/v1/validate', { json: { workspace_path: '/none' } })
    expect(missing.body).toEqual({
      type: 'about:blank',
      title: 'workspace_path does not exist or is not a directory: /none',
      status: 404,
    })
  })

  it('a workspace that is a file', async () => {
    const path = join(workspace_path, 'file')
    await writeFile(path, '')
    expect((await service.request('POST', '/v1/validate', { json: { workspace_path: path } })).status).toBe(404)
  })
})

describe('other answers', () => {
  it('unknown paths and methods are problems', async () => {
    const missing = await service.request('GET', '/v1/unknown')
    expect(missing).toMatchObject({ status: 404, body: { title: 'Not Found' } })
    const wrong = await service.request('GET', '/v1/plan')
    expect(wrong).toMatchObject({ status: 405, body: { title: 'Method Not Allowed' } })
    expect(wrong.headers.get('allow')).toContain('POST')
  })

  it('job ids', async () => {
    expect((await service.request('GET', '/v1/jobs/x')).status).toBe(422)
    const id = crypto.randomUUID()
    const answer = await service.request('GET', `/v1/jobs/${id}`, { headers: { prefer: 'wait=60' } })
    expect(answer).toMatchObject({ status: 404, body: { title: `Unknown or expired job: ${id}`, status: 404 } })
  })

  it('the engine', async () => {
    expect((await service.request('GET', '/v1/engine')).body).toEqual({
      name: 'Fake',
      version: '9.8.7',
      additions: ['schema', 'diagnostics', 'fmt', 'output', 'output_from', 'cancel', 'plan_sha256'],
      sandbox: 'none',
      network: 'host',
      limits: 'none',
    })
  })

  it.each([
    ['wait=5', 5],
    ['respond-async, wait=7', 7],
    ['Wait = "3"', 3],
    ['wait=100000', 60],
    ['wait=0', 0],
    ['wait=-1', null],
    ['wait=x', null],
    ['await=5', null],
    [undefined, null],
  ])('Prefer: %s', (header, seconds) => {
    expect(preferredWait(header)).toBe(seconds)
  })
})
