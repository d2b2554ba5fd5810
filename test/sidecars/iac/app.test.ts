import { describe, expect, it } from 'vitest'
import { readContract as readDocument } from '../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../contracts/conformance/options.ts'
import { runConformance } from '../../../contracts/conformance/run.ts'
import { ROUTES } from '../../../sidecars/iac/app.ts'
import { preferredWait } from '../../../sidecars/iac/jobs/routes.ts'
import { brokenOf } from '../../contracts/conformance/fakes/serve.ts'
import { readContract } from '../contract.ts'
import { SCOPE, startFakeService, TOKEN } from './service.ts'

const service = await startFakeService()
const workspace_path = await service.workspace({ 'command.sh': 'echo "$@"' })

describe('token', () => {
  const validate = (authorization: string) =>
    service.request('POST', '/v1/validate', { json: {}, headers: { authorization } })

  it.each([
    ['', 'Missing or malformed bearer credentials.'],
    [`Bearer ${TOKEN}x`, 'Invalid bearer token.'],
  ])('%j is refused', async (value, title) => {
    const answer = await validate(value)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.body).toEqual({ type: 'about:blank', title, status: 401 })
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
  it.each([
    ['a target with NUL', { targets: ['a\0b'] }, 422],
    ['a relative workspace', { workspace_path: 'x' }, 422],
    ['a workspace of 4097', { workspace_path: `/${long(4096)}` }, 422],
    ['a workspace of 4096', { workspace_path: `/${long(4095)}` }, 404],
  ])('plan with %s: %s', async (_name, change, expected) => {
    const json = { workspace_path, ...SCOPE, plan_file: 'p.plan', ...change }
    expect((await service.request('POST', '/v1/plan', { json })).status).toBe(expected)
  })

  it('that are no object are refused', async () => {
    const answer = await service.request('POST', '/v1/plan', { text: '[]' })
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
})

it('the promises of the contract about tokens, plans and imports are kept', async () => {
  const { url, folder } = service
  const options = { url, token: TOKEN, seed: 3, workspace: folder, only: ['token.', 'plan.', 'import.'] }
  expect(brokenOf(await runConformance({ ...DEFAULTS, ...options, contract: await readDocument('iac') }))).toEqual([])
})

it('the contract has these routes and no others, and its examples fit', async () => {
  const { operations } = await readContract('iac')
  const own = Object.values(ROUTES).map((path) => `POST ${path}`)
  const jobs = ['DELETE /v1/jobs/{job_id}', 'GET /v1/jobs/{job_id}', 'GET /v1/jobs/{job_id}/output']
  expect(operations).toEqual([...own, ...jobs, 'GET /v1/engine', 'GET /healthz'].sort())
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
    const id = crypto.randomUUID()
    const answer = await service.request('GET', `/v1/jobs/${id}`, { headers: { prefer: 'wait=60' } })
    expect(answer).toMatchObject({ status: 404, body: { title: `Unknown or expired job: ${id}`, status: 404 } })
  })

  it('the engine', async () => {
    expect((await service.request('GET', '/v1/engine')).body).toEqual({
      name: 'Fake',
      version: '9.8.7',
      additions: [
        'schema',
        'diagnostics',
        'fmt',
        'state_summary',
        'state_rm',
        'output',
        'output_from',
        'cancel',
        'plan_sha256',
        'repository',
        'state',
        'migrate_state',
        'programs_only',
        'lock',
        'plan_json',
        'validate_json',
        'module_credentials',
      ],
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
