import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../routes/endpoints.ts'
import { planDocumentJsonSchema } from '../../routes/openapi/document.ts'
import { createTestCore } from '../helpers/core.ts'
import { DOCUMENT, type Schema } from '../helpers/described.ts'
import { startOnce } from '../helpers/start-once.ts'

const core = startOnce(() =>
  createTestCore({ yaml: 'oidc: { issuer_url: "https://issuer.example.org", client_id: core }' }),
)

/** Every route; the matrix of roles lists them by hand. */
const ROUTES = ENDPOINTS.map(({ route }) => `${route.method} ${route.path}`).sort()

interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  responses: Record<string, { description?: string; content?: Record<string, { schema: Record<string, unknown> }> }>
}
const document = async () => (await core.call('GET', '/api/openapi.json')).json()
const operations = async (): Promise<[string, Operation][]> => {
  const { paths } = (await document()) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )
}

describe('openapi.json', () => {
  it('is public and valid', async () => {
    const answer = await core.call('GET', '/api/openapi.json')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    const specification = await answer.json()
    expect(await new Validator().validate(specification)).toEqual({ valid: true })
    expect(specification).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Platform', version: '0.0.0-dev' },
      servers: [{ url: '/api' }],
    })
  })

  it('lists every route, with what a reader needs', async () => {
    const all = await operations()
    expect(all.map(([name]) => name).sort()).toEqual(ROUTES)
    expect(new Set(all.map(([, { operationId }]) => operationId)).size).toBe(ROUTES.length)
    for (const [name, operation] of all) {
      expect(operation.operationId, name).toMatch(/^[a-z]\w+$/)
      expect(operation.summary, name).toBeTruthy()
      expect(operation.description, name).toBeTruthy()
      expect(operation.tags, name).toHaveLength(1)
      expect(Object.keys(operation.responses), name).toContain('500')
      expect(operation.security, name).toEqual(name === 'get /v1/auth/config' ? undefined : [{ bearer: [] }])
    }
  })

  it('describes the body of a request', async () => {
    const { components } = await document()
    const { properties, required } = components.schemas.GenerateRequest
    expect(required).toEqual(['q'])
    expect(Object.keys(properties)).toEqual([
      'q',
      'repo_uri',
      'scope_id',
      'engine_providers',
      'iac_path',
      'session_id',
      'state',
    ])
    expect(properties.q).toMatchObject({ type: 'string', minLength: 1 })
    expect(components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  it('says which role a route asks for, and lists what its gates and its body may answer', async () => {
    for (const [name, { description, responses }] of await operations()) {
      const statuses = Object.keys(responses)
      if (name !== 'get /v1/auth/config') expect(statuses, name).toContain('401')
      if (name.includes('/admin/')) expect(description, name).toMatch(/panel role (viewer|editor|admin)/)
      if (name.includes('/iac/')) expect(description, name).toMatch(/operation role (developer|devops)/i)
      if (!name.startsWith('get')) for (const status of ['400', '413', '422']) expect(statuses, name).toContain(status)
      if (/admin|iac|\/pr|parse|sessions$|events/.test(name)) expect(statuses, name).toContain('403')
      if (/session_id|user_id|iac|\/pr|sessions$/.test(name)) expect(statuses, name).toContain('404')
    }
    const of = async (wanted: string) =>
      Object.keys((await operations()).find(([name]) => name === wanted)?.[1].responses ?? {})
    expect(await of('post /v1/iac/apply')).toContain('409')
    expect(await of('put /v1/repository/pr/merge')).toEqual(
      expect.arrayContaining(['204', '404', '409', '502', '504', 'default']),
    )
    expect(await of('put /v1/admin/users/{user_id}/roles')).toContain('409')
    expect(await of('post /v1/auth/authorize')).toEqual(expect.arrayContaining(['502', '504']))
    expect(await of('post /v1/mapping/resolve')).toEqual(expect.arrayContaining(['502', '504']))
    expect(await of('post /v1/notifications')).toEqual(expect.arrayContaining(['202', '502', '503']))
  })

  it('tells the truth about 404, 405 and 401: what it lists exists and asks for a token', async () => {
    for (const [name] of await operations()) {
      const [method, path] = name.split(' ') as [string, string]
      const answer = await core.call(
        method.toUpperCase(),
        `/api${path.replace('{session_id}', crypto.randomUUID()).replace('{user_id}', '1')}`,
      )
      expect(answer.status, name).toBe(name === 'get /v1/auth/config' ? 200 : 401)
    }
  })
})

describe.each(['/api/docs', '/api/redoc', '/docs', '/redoc'])('%s', (path) => {
  it('is public HTML that loads only from this server, under a strict policy', async () => {
    const answer = await core.call('GET', path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('http')
    const html = await answer.text()
    expect(html).not.toMatch(/https?:|src="\/\/|href="\/\//)
    expect(html).not.toMatch(/<script(?![^>]*src)/)
    const base = `http://core${path}`
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => new URL(link ?? '', base).pathname)
    expect(links.length).toBeGreaterThan(2)
    for (const link of links) {
      const asset = await core.call('GET', link)
      expect(asset.status, link).toBe(200)
      expect((await asset.arrayBuffer()).byteLength, link).toBeGreaterThan(10)
    }
  })
})

describe('the description says what is taken and answered', () => {
  it('null in place of an object that may be missing', () => {
    const { seal } = (DOCUMENT.components.schemas.SessionAggregate as { allOf: Schema[] }).allOf[1]
      ?.properties as Record<string, Schema>
    expect(seal).toMatchObject({ anyOf: [{ $ref: '#/components/schemas/Seal' }, { type: 'null' }] })
  })

  it('the ends of numbers, blank filters, and the items of lists', () => {
    const [page, , operation] = (DOCUMENT.paths['/v1/sessions/list']?.get as unknown as { parameters: Schema[] })
      .parameters
    expect(page).toMatchObject({ name: 'page', schema: { minimum: 1, maximum: 2_147_483_647 } })
    expect(operation).toMatchObject({ name: 'operation', allowEmptyValue: true })
    expect(DOCUMENT.components.schemas.NotificationRequest?.properties).toMatchObject({
      links: { items: { required: ['label', 'url'] } },
    })
  })

  it('which keys of a request go together', () => {
    for (const name of ['GenerateRequest', 'DriftRequest', 'ImportRequest'])
      expect(DOCUMENT.components.schemas[name]?.oneOf, name).toMatchObject([
        { required: ['repo_uri', 'scope_id', 'engine_providers'] },
        { required: ['session_id'] },
      ])
  })

  it('events of a stream with JSON as their data', () => {
    const { content } = DOCUMENT.paths['/v1/events/output/{session_id}']?.get?.responses[200] ?? {}
    expect(content?.['text/event-stream']?.schema).toMatchObject({
      properties: { data: { contentSchema: { anyOf: [{ $ref: '#/components/schemas/Output' }, { title: 'End' }] } } },
    })
    expect(DOCUMENT.components.schemas.Output).toBeDefined()
  })
})

it('the published schema of a plan document, the component of the API and the code are the same', async () => {
  const published = new URL('../../contracts/plan-document.v1.schema.json', import.meta.url)
  const { $schema, title, ...schema } = JSON.parse(await readFile(published, 'utf8'))
  expect([$schema, title]).toEqual(['https://json-schema.org/draft/2020-12/schema', 'PlanDocument'])
  // After a change of the code, write the expected result into the file; a field with a new meaning needs a new file.
  expect(schema).toEqual(planDocumentJsonSchema())
  expect(DOCUMENT.components.schemas.PlanDocument).toEqual(schema)
  expect(schema.properties.schema_version).toMatchObject({ const: 1 })
})

describe('assets', () => {
  it('are the listed files and no others', async () => {
    const outside = ['package.json', '..%2Fpackage.json', '%2e%2e%2f%2e%2e%2fpackage.json']
    for (const name of [...outside, 'constructor', '__proto__', 'swagger-ui.js'])
      expect((await core.call('GET', `/api/docs/assets/${name}`)).status, name).toBe(404)
  })

  it('ask no other host for anything', async () => {
    for (const name of ['redoc.standalone.js', 'swagger-ui-bundle.js', 'start-redoc.js', 'start-swagger-ui.js']) {
      const text = await (await core.call('GET', `/api/docs/assets/${name}`)).text()
      expect(text, name).not.toContain('cdn.')
    }
  })
})
