import { HttpResponse } from 'msw'
import { beforeAll, describe, expect, it } from 'vitest'
import { answerOf, callOf, refusalOf, type TestCore } from '../helpers/core.ts'
import { provideCoreWithSidecar, testFaults } from './sidecar.ts'

const PATH = '/api/v1/mapping/resolve'
const ENABLED =
  'services: { mapping: { enabled: true, endpoint: "http://mapping.test:8081/", token_env: T, timeout: 1 } }'
const KNOWN = {
  repo_url: 'https://github.com/acme/infra.git',
  identifier: 'acme/infra',
  engine_provider: 'gcp',
  scope_id: 'acme-1',
}
const usual = () => HttpResponse.json(KNOWN)
const { core, sidecar } = provideCoreWithSidecar('http://mapping.test:8081/v1/resolve', usual, {
  yaml: ENABLED,
  env: { T: 'token-of-mapping' },
})
let disabled: TestCore['app']
beforeAll(async () => {
  disabled = await core.another({
    yaml: 'services: { mapping: { enabled: false, endpoint: "http://mapping.test:8081" } }',
  })
})

const ask = (json: unknown = { identifier: 'acme/infra' }) => core.call('POST', PATH, { json })
const locally = (json: unknown) => callOf(disabled)('POST', PATH, { json })

describe('body', () => {
  it.each([
    ['nothing', {}, [{ type: 'missing', loc: ['body', 'identifier'] }]],
    ['null', { identifier: null }, [{ type: 'string_type', loc: ['body', 'identifier'] }]],
    [
      'an empty identifier',
      { identifier: '' },
      [{ type: 'string_too_short', msg: 'String should have at least 1 character' }],
    ],
    [
      'a long one',
      { identifier: 'x'.repeat(1025) },
      [{ type: 'string_too_long', msg: 'String should have at most 1024 characters' }],
    ],
    [
      'another cloud',
      { identifier: 'x', engine_provider: 'ibm' },
      [{ type: 'enum', msg: "Input should be 'azure', 'gcp', 'aws', 'oci' or 'kubernetes'" }],
    ],
    [
      'further keys',
      { identifier: 'x', scope_id: 'y', engine_providers: 'aws' },
      [
        { type: 'extra_forbidden', loc: ['body', 'scope_id'], msg: 'Extra inputs are not permitted' },
        { type: 'extra_forbidden', loc: ['body', 'engine_providers'] },
      ],
    ],
  ])('refuses %s, enabled or not, and asks nobody', async (_, json, detail) => {
    for (const answer of [await ask(json), await locally(json)])
      expect([answer.status, (await answer.json()).detail]).toMatchObject([422, detail])
    expect(sidecar.calls).toEqual([])
  })

  it('counts characters', async () => {
    expect((await locally({ identifier: '😀'.repeat(1024) })).status).toBe(200)
    expect((await locally({ identifier: '😀'.repeat(1025) })).status).toBe(422)
  })
})

describe('a sidecar that is disabled', () => {
  it('is not contacted: the identifier stands for itself', async () => {
    expect(await answerOf(locally({ identifier: 'acme/infra' }))).toEqual([
      200,
      { repo_url: 'acme/infra', identifier: 'acme/infra', engine_provider: null, scope_id: null },
    ])
    for (const engine_provider of ['azure', 'gcp', 'aws', 'oci', 'kubernetes'])
      expect(await (await locally({ identifier: 'x', engine_provider })).json()).toMatchObject({
        engine_provider,
        scope_id: null,
      })
    expect(await (await locally({ identifier: 'x', engine_provider: null })).json()).toMatchObject({
      engine_provider: null,
    })
    expect(sidecar.calls).toEqual([])
  })
})

describe('a sidecar that is enabled', () => {
  it('gets the question with its token, and its answer is passed on', async () => {
    expect(await answerOf(ask({ identifier: 'acme/infra', engine_provider: 'aws' }))).toEqual([200, KNOWN])
    const [call] = sidecar.calls
    expect(call?.body).toEqual({ identifier: 'acme/infra', engine_provider: 'aws' })
    expect(call?.headers.get('authorization')).toBe('Bearer token-of-mapping')
    expect([...(call?.headers.keys() ?? [])].filter((name) => name.startsWith('x-user'))).toEqual([])
    await ask({ identifier: 'acme/infra', engine_provider: null })
    expect(sidecar.calls[1]?.body).toEqual({ identifier: 'acme/infra' })
  })

  it('may know no more than the address', async () => {
    const { repo_url, identifier } = KNOWN
    for (const rest of [{ engine_provider: null, scope_id: null }, {}]) {
      sidecar.answers(() => HttpResponse.json({ repo_url, identifier, ...rest }))
      expect(await answerOf(ask())).toEqual([200, { repo_url, identifier, engine_provider: null, scope_id: null }])
    }
  })
})

describe('a sidecar that fails', () => {
  testFaults('mapping', sidecar, {
    ask,
    limitS: 10,
    invalid: [
      ['another cloud', () => HttpResponse.json({ ...KNOWN, engine_provider: 'ibm' })],
      ['a cloud in capitals', () => HttpResponse.json({ ...KNOWN, engine_provider: 'AWS' })],
      ['no address', () => HttpResponse.json({ ...KNOWN, repo_url: null })],
      ['an empty address', () => HttpResponse.json({ ...KNOWN, repo_url: '' })],
      ['a long address', () => HttpResponse.json({ ...KNOWN, repo_url: `https://h/${'x'.repeat(2048)}` })],
      ['no identifier', () => HttpResponse.json({ ...KNOWN, identifier: undefined })],
      ['another identifier', () => HttpResponse.json({ ...KNOWN, identifier: 'acme/other' })],
      ['an empty scope', () => HttpResponse.json({ ...KNOWN, scope_id: '' })],
      ['a scope that is no text', () => HttpResponse.json({ ...KNOWN, scope_id: 7 })],
      ['a further key', () => HttpResponse.json({ ...KNOWN, internal: 'words' })],
    ],
  })

  it('by having no endpoint is 502', async () => {
    const app = await core.another({ yaml: 'services: { mapping: { enabled: true, token_env: T } }', env: { T: 'x' } })
    expect(await refusalOf(callOf(app)('POST', PATH, { json: { identifier: 'x' } }))).toEqual([
      502,
      expect.stringMatching(/^mapping service unreachable: /),
    ])
  })
})
