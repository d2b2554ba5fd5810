import { mkdtemp, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openCatalogueFile, parseCatalogue } from '../../../sidecars/mapping/catalogue.ts'
import { createMappingApp, readSettings } from '../../../sidecars/mapping/main.ts'
import { SettingsError } from '../../../sidecars/shared/settings.ts'
import { createLogger, silentLogger } from '../../../src/base/log.ts'
import { brokenOf, judged, TOKEN } from '../../contracts/conformance/fakes/serve.ts'
import { type Contract, readContract } from '../contract.ts'

const CATALOGUE = `
repositories:
  payments:
    repo_url: https://git.example.com/team/payments.git
    engine_provider: aws
    scope_id: "012345678901"
  mono/network:
    repo_url: https://git.example.com/team/mono
    engine_provider: gcp
  mono/cluster:
    repo_url: https://git.example.com/team/mono
    engine_provider: kubernetes
`

let contract: Contract
beforeAll(async () => {
  contract = await readContract('mapping')
})

type Options = Partial<Parameters<typeof createMappingApp>[0]>
const app = (options: Options = {}) =>
  createMappingApp({ token: '', catalogue: null, strict: false, log: silentLogger, ...options })
const known = (options: Options = {}) => app({ catalogue: async () => parseCatalogue(CATALOGUE), ...options })

const resolve = (service: ReturnType<typeof app>, body: unknown) =>
  contract.ask(service, 'POST', '/v1/resolve', { body })

describe('mapping sidecar', () => {
  it('keeps the promises of its contract', async () => {
    expect(brokenOf(await judged('mapping', app({ token: TOKEN }).fetch))).toEqual([])
  })

  it('has the routes of its contract', () => {
    expect(contract.operations).toEqual(['GET /healthz', 'POST /v1/resolve'])
    for (const example of contract.examplesOf('POST', '/v1/resolve')) expect(example).toHaveProperty('identifier')
  })

  it('passes every identifier through without a catalogue', async () => {
    const identifier = 'https://git.example.com/Team/App'
    const unknown = { engine_provider: null, scope_id: null }
    expect((await resolve(app(), { identifier })).body).toEqual({ repo_url: identifier, identifier, ...unknown })
    expect((await resolve(app(), { identifier, engine_provider: 'oci' })).body.engine_provider).toBe('oci')
    expect((await resolve(app(), { identifier, engine_provider: null })).body.engine_provider).toBeNull()
  })

  it.each([
    ['{"identifier"', 400],
    ['', 400],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 400],
    [`{"identifier":"${'a'.repeat(100_000)}"}`, 413],
  ])('answers the body %j as documented', async (body, status) => {
    expect((await resolve(app(), body)).status).toBe(status)
  })

  it('answers methods and paths it does not have as problems', async () => {
    expect((await app().request('/v1/resolve')).status).toBe(405)
    expect((await app().request('/v1/other')).headers.get('content-type')).toBe('application/problem+json')
    const health = await app().request('/healthz', { method: 'DELETE' })
    expect([health.status, health.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await app().request('/healthz', { method: 'HEAD' })).status).toBe(200)
  })
})

describe('catalogue', () => {
  it('answers what it knows, by identifier and by address', async () => {
    const repo_url = 'https://git.example.com/team/payments.git'
    const expected = { repo_url, engine_provider: 'aws', scope_id: '012345678901' }
    for (const identifier of ['payments', 'https://bot@git.example.com/Team/payments/', repo_url])
      expect((await resolve(known(), { identifier })).body).toEqual({ ...expected, identifier })
  })

  it('never guesses: an unknown scope is null, an ambiguous address is passed through', async () => {
    const { body } = await resolve(known(), { identifier: 'mono/network' })
    expect(body).toMatchObject({ engine_provider: 'gcp', scope_id: null })
    const address = 'https://git.example.com/team/mono'
    const unknown = { repo_url: address, engine_provider: null, scope_id: null }
    expect((await resolve(known(), { identifier: address })).body).toMatchObject(unknown)
  })

  it('prefers its own cloud over the one of the request', async () => {
    const { body } = await resolve(known(), { identifier: 'payments', engine_provider: 'gcp' })
    expect(body.engine_provider).toBe('aws')
  })

  it('passes unknown identifiers through, or answers 404 when it is strict', async () => {
    expect((await resolve(known(), { identifier: 'else' })).body.repo_url).toBe('else')
    expect((await resolve(known({ strict: true }), { identifier: 'else' })).status).toBe(404)
  })

  it.each([
    ['repositories: [', /./],
    ['other: {}', /repositories/],
    ['repositories: {a: {repo_url: "http://x/y"}}', /repositories\.a\.repo_url/],
    ['repositories: {a: {repo_url: "https://x/y", engine_provider: ibm}}', /repositories\.a\.engine_provider/],
    ['repositories: {a: {repo_url: "https://x/y", scope_id: 123}}', /repositories\.a\.scope_id/],
    ['repositories: {a: {repo_url: "https://x/y", sope_id: "1"}}', /repositories\.a/],
  ])('refuses %s', (yaml, text) => {
    expect(() => parseCatalogue(yaml)).toThrow(text)
  })
})

describe('catalogue file', () => {
  it('is read again when it changes, and a bad one keeps the last good one and says so', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mapping-'))
    const path = join(folder, 'catalogue.yaml')
    const lines: string[] = []
    await writeFile(path, CATALOGUE)
    const file = await openCatalogueFile(path, createLogger({ write: (line) => lines.push(line) }))
    expect((await file()).find('payments')?.engine_provider).toBe('aws')

    await writeFile(join(folder, 'next'), CATALOGUE.replace('aws', 'azure'))
    await rename(join(folder, 'next'), path)
    expect((await file()).find('payments')?.engine_provider).toBe('azure')

    await writeFile(path, 'repositories: [broken')
    expect((await file()).find('payments')?.engine_provider).toBe('azure')
    await file()
    expect(lines.filter((line) => line.includes('the last good one stays'))).toHaveLength(1)

    await writeFile(path, 'repositories: {}')
    expect((await file()).find('payments')).toBeNull()
  })

  it('must be usable at the start', async () => {
    await expect(openCatalogueFile('/no/such/file', silentLogger)).rejects.toThrow(SettingsError)
  })
})

describe('settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({ host: '127.0.0.1', port: 8081, token: '', catalogue: '', strict: false })
  })
  it('names every wrong variable at once', () => {
    expect(() => readSettings({ PLATFORM_PORT: '80a', PLATFORM_MAPPING_STRICT: 'yes' })).toThrow(
      /PLATFORM_MAPPING_STRICT.*\nPLATFORM_PORT/,
    )
    expect(() => readSettings({ PLATFORM_MAPPING_STRICT: 'true' })).toThrow(/PLATFORM_MAPPING_CATALOGUE/)
  })
})
