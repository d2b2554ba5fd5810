import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { BODIES, ROUTES } from '../../../sidecars/iac/requests.ts'
import { JOB_KINDS } from '../../../sidecars/iac/types.ts'
import { type Answer, type Json, SCOPE, startFakeService } from './service.ts'

const text = await readFile('contracts/iac.v1.yaml', 'utf8')
const document: Json = parse(text)
const validator = new Validator()
await validator.validate(parse(text))
const resolved: Json = validator.resolveRefs()
const service = await startFakeService()
const workspace_path = await service.workspace({ 'command.sh': 'echo out; echo err >&2; exit 3' })

/** Checks that the answer is declared for the operation, with its content type and a fitting body. */
function expectDeclared(method: string, path: string, answer: Answer): void {
  const declared = resolved.paths[path]?.[method]?.responses[answer.status]
  expect(declared, `${method} ${path} ${answer.status}`).toBeDefined()
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  expect(Object.keys(declared.content)).toContain(type)
  const parsed = z.fromJSONSchema(declared.content[type].schema).safeParse(answer.body)
  expect(parsed.error?.issues, JSON.stringify(answer.body)).toBeUndefined()
  for (const [name, header] of Object.entries<Json>(declared.headers ?? {}))
    if (header.required) expect(answer.headers.has(name)).toBe(true)
}

describe('the contract document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  it('describes the routes of the service and no others', () => {
    const described = Object.keys(document.paths).sort()
    expect(described).toEqual(
      [...Object.values(ROUTES), '/v1/jobs/{job_id}', '/v1/jobs/{job_id}/output', '/v1/engine', '/healthz'].sort(),
    )
  })

  it.each(JOB_KINDS)('agrees with the service about the example body of %s', (kind) => {
    const body = resolved.paths[ROUTES[kind]].post.requestBody.content['application/json']
    for (const { value } of Object.values<Json>(body.examples)) {
      expect(BODIES[kind].safeParse(value).success).toBe(true)
      expect(z.fromJSONSchema(body.schema).safeParse(value).success).toBe(true)
      const extended = { ...value, undeclared: 1 }
      expect(BODIES[kind].safeParse(extended).success).toBe(false)
      expect(z.fromJSONSchema(body.schema).safeParse(extended).success).toBe(false)
    }
  })

  it('has examples that fit their own schemas', () => {
    for (const path of Object.values<Json>(resolved.paths))
      for (const operation of Object.values<Json>(path))
        for (const response of Object.values<Json>(operation.responses))
          for (const content of Object.values<Json>(response.content ?? {})) {
            const examples = [content.example, ...Object.values<Json>(content.examples ?? {}).map(({ value }) => value)]
            for (const example of examples.filter((each) => each !== undefined))
              expect(
                z.fromJSONSchema(content.schema).safeParse(example).error?.issues,
                JSON.stringify(example),
              ).toBeUndefined()
          }
  })
})

describe('the answers of the service', () => {
  const bodies: Record<string, object> = {
    init: SCOPE,
    validate: {},
    plan: { ...SCOPE, plan_file: 'p', targets: ['a.b'] },
    show: { plan_file: 'p' },
    apply: { ...SCOPE, plan_file: 'p' },
    import: { ...SCOPE, address: 'a.b', resource_id: 'i' },
    state_resource_ids: {},
    scope_resource_ids: SCOPE,
    fmt: { texts: [{ form: 'tf', text: '' }] },
  }

  it.each(JOB_KINDS)('to %s', async (kind) => {
    const path = ROUTES[kind]
    const accepted = await service.request('POST', path, { json: { workspace_path, ...bodies[kind] } })
    expect(accepted.status).toBe(202)
    expectDeclared('post', path, accepted)
    expect(accepted.headers.get('location')).toBe(`/v1/jobs/${accepted.body.job_id}`)
    expectDeclared('get', '/v1/jobs/{job_id}', await service.request('GET', `/v1/jobs/${accepted.body.job_id}`))
    await service.finished(accepted.body.job_id)
    const finished = await service.request('GET', `/v1/jobs/${accepted.body.job_id}`)
    expectDeclared('get', '/v1/jobs/{job_id}', finished)
    expect(finished.body).toMatchObject({ kind, status: 'succeeded' })
    expectDeclared('post', path, await service.request('POST', path, { json: {} }))
    expectDeclared('post', path, await service.request('POST', path, { headers: { authorization: '' } }))
    expectDeclared(
      'post',
      path,
      await service.request('POST', path, { json: { workspace_path: '/none', ...bodies[kind] } }),
    )
  })

  it('to everything else', async () => {
    expectDeclared('get', '/healthz', await service.request('GET', '/healthz'))
    expectDeclared('get', '/v1/engine', await service.request('GET', '/v1/engine'))
    expectDeclared('get', '/v1/jobs/{job_id}', await service.request('GET', '/v1/jobs/none'))
    expectDeclared('get', '/v1/jobs/{job_id}', await service.request('GET', `/v1/jobs/${crypto.randomUUID()}`))
    const known = await service.submit('/v1/validate', { workspace_path })
    for (const id of [known, 'none', crypto.randomUUID()]) {
      expectDeclared('delete', '/v1/jobs/{job_id}', await service.request('DELETE', `/v1/jobs/${id}`))
      for (const query of ['', '?tail_bytes=10', '?stdout_from=0', '?stderr_from=1', '?stdout_from=x'])
        expectDeclared('get', '/v1/jobs/{job_id}/output', await service.request('GET', `/v1/jobs/${id}/output${query}`))
    }
  })
})
