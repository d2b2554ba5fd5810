import { describe, expect, it } from 'vitest'
import type { IacServiceConfig } from '../../config/types.ts'
import {
  CONTRACTS,
  type Contract,
  type ContractName,
  type Operation,
  readContract,
} from '../../contracts/conformance/document.ts'
import { generate } from '../../contracts/conformance/schema/generate.ts'
import { findFaults } from '../../contracts/conformance/schema/schema.ts'
import { invalidBodies } from '../../contracts/conformance/schema/variants.ts'
import type { Fetch } from '../../src/base/http.ts'
import { silentLogger } from '../../src/base/log.ts'
import { checkAccess } from '../../src/services/authz.ts'
import { createIacClient } from '../../src/services/iac/client.ts'
import type { IacJobKind, IacJobs } from '../../src/services/iac/contract.ts'
import { askMapping } from '../../src/services/mapping.ts'
import { deliverNotification } from '../../src/services/notifications.ts'

const contracts = Object.fromEntries(
  await Promise.all(CONTRACTS.map(async (name) => [name, await readContract(name)])),
) as Record<ContractName, Contract>
const service: IacServiceConfig = {
  endpoint: 'http://sidecar.test',
  token_env: 'TOKEN',
  token: 'token',
  timeout: 5,
  job_poll_interval: 0.01,
  job_timeout: 5,
}
const SEEDS = Array.from({ length: 12 }, (_, index) => index)

/** Creates a service that accepts what the contract allows and gives this answer. Anything else fails the call. */
function speaking(name: ContractName, answer: (operation: Operation) => { status: number; body: unknown }): Fetch {
  return async (input, init) => {
    const { pathname } = new URL(String(input instanceof Request ? input.url : input))
    const method = init?.method ?? 'GET'
    const operation = contracts[name].operations.find(
      (each) => each.method === method && pathPattern(each.path).test(pathname),
    )
    expect(operation, `${method} ${pathname} is in the contract`).toBeDefined()
    if (!operation) throw new Error('unreachable')
    if (operation.body) expect(findFaults(operation.body.schema, JSON.parse(String(init?.body)))).toEqual([])
    expect(new Headers(init?.headers).get('authorization')).toBe('Bearer token')
    const { status, body } = answer(operation)
    return Response.json(body, { status })
  }
}

const pathPattern = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

const schemaOf = (operation: Operation, status: number) => {
  const media = operation.answers[status]?.content?.['application/json']
  if (!media) throw new Error(`${operation.id} has no answer ${status}`)
  return media
}

/** Lists answers of the contract: its examples, then generated ones. */
function answersOf(name: ContractName, id: string, status: number): Record<string, unknown>[] {
  const { schema, examples } = schemaOf(contracts[name].operation(id), status)
  const generated = SEEDS.map((seed) => generate(schema, seed, { optional: seed % 2 === 0 ? 'all' : 'some' }))
  return [...examples, ...generated] as Record<string, unknown>[]
}

/** Lists answers that break the contract in a part that the client reads. */
function brokenAnswers(name: ContractName, id: string, status: number): unknown[] {
  const { schema } = schemaOf(contracts[name].operation(id), status)
  const kinds = ['missing', 'types'] as const
  return kinds.flatMap((fault) => invalidBodies(schema, fault, 1, (body) => body)).map(({ body }) => body)
}

describe('the client of authz', () => {
  const check = { user_id: 'ada@example.com', cloud: 'aws', project: 'https://git.example.com/team/app' }
  const ask = (body: unknown) =>
    checkAccess(
      service,
      speaking('authz', () => ({ status: 200, body })),
      check,
    )

  it('asks what the contract allows and understands every answer of it', async () => {
    for (const body of answersOf('authz', 'check', 200))
      expect(await ask(body)).toEqual({ portal_url: null, reason: null, ...body })
    await checkAccess(
      service,
      speaking('authz', () => ({ status: 200, body: { authorized: true } })),
      { ...check, environment: 'dev' },
    )
  })

  it('refuses answers that break it', async () => {
    const broken = brokenAnswers('authz', 'check', 200)
    expect(broken.length).toBeGreaterThan(10)
    for (const body of broken) await expect(ask(body), JSON.stringify(body)).rejects.toMatchObject({ status: 502 })
  })
})

describe('the client of mapping', () => {
  const ask = (body: { identifier?: unknown }) =>
    askMapping(
      service,
      speaking('mapping', () => ({ status: 200, body })),
      { identifier: String(body.identifier), engine_provider: 'aws' },
    )

  it('asks what the contract allows and understands every answer of it', async () => {
    for (const body of answersOf('mapping', 'resolve', 200)) expect(await ask(body)).toEqual(body)
  })

  it('refuses answers that break it', async () => {
    for (const body of brokenAnswers('mapping', 'resolve', 200)) {
      // For this client a missing field means an unknown value.
      if (
        typeof body === 'object' &&
        body !== null &&
        'repo_url' in body &&
        'identifier' in body &&
        !('engine_provider' in body && 'scope_id' in body)
      )
        continue
      const question = { identifier: 'payments' }
      const asked = askMapping(
        service,
        speaking('mapping', () => ({ status: 200, body })),
        question,
      )
      await expect(asked, JSON.stringify(body)).rejects.toMatchObject({ status: 502 })
    }
  })
})

describe('the client of notifications', () => {
  const send = (body: unknown) =>
    deliverNotification(
      service,
      speaking('notifications', () => ({ status: 202, body })),
      {
        kind: 'system.error',
        severity: 'error',
        subject: 'A round failed',
        body: 'The state stayed locked.',
        audience: ['ada@example.com'],
        links: [{ label: 'Session', url: 'https://platform.example.com/s/1' }],
        context: { session_id: '5f0c', nested: [null] },
      },
    )

  it('sends what the contract allows and understands every answer of it', async () => {
    for (const body of answersOf('notifications', 'notify', 202)) expect(await send(body)).toBe(body.delivery_id)
    expect(await send({ delivery_id: 'x'.repeat(5000) })).toHaveLength(5000)
  })

  it('refuses answers that break it', async () => {
    for (const body of brokenAnswers('notifications', 'notify', 202))
      await expect(send(body), JSON.stringify(body)).rejects.toMatchObject({ status: 502 })
  })
})

describe('the client of iac', () => {
  const scope = { scope_id: '123456789012', engine_provider: 'aws' } as const
  const workspace_path = '/data/work'
  const BODIES: IacJobs = {
    init: { workspace_path, ...scope },
    validate: { workspace_path },
    plan: { workspace_path, ...scope, plan_file: 'session.plan', targets: ['aws_s3_bucket.logs'] },
    show: { workspace_path, plan_file: 'session.plan' },
    apply: { workspace_path, ...scope, plan_file: 'session.plan' },
    import: { workspace_path, ...scope, address: 'aws_s3_bucket.logs', resource_id: 'logs' },
    state_resource_ids: { workspace_path },
    state_summary: { workspace_path, ...scope },
    state_rm: { workspace_path, ...scope, address: 'aws_s3_bucket.logs' },
    scope_resource_ids: { workspace_path, ...scope },
  }
  const client = (answer: (operation: Operation) => { status: number; body: unknown }) =>
    createIacClient(service, { fetch: speaking('iac', answer), log: silentLogger })
  const submitted = { job_id: '3f2b8c1e-6a57-4f0e-9d31-0c7b5a8e4d12', status: 'queued' }
  const job = {
    ...submitted,
    kind: 'plan',
    created_at: '2026-01-31T23:59:58.000Z',
    started_at: null,
    finished_at: null,
    result: null,
    error: null,
  }

  it.each(Object.keys(BODIES) as IacJobKind[])('submits %s as the contract describes it', async (kind) => {
    let asked = ''
    const submit = client((operation) => {
      asked = operation.id
      return { status: 202, body: submitted }
    }).submit
    expect(await submit(kind, BODIES[kind])).toBe(submitted.job_id)
    expect(asked.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).toBe(kind)
  })

  it('understands every job of the contract', async () => {
    const { examples } = schemaOf(contracts.iac.operation('job'), 200)
    expect(examples.length).toBeGreaterThan(2)
    const { result: resultSchema, error: errorSchema } =
      schemaOf(contracts.iac.operation('job'), 200).schema.properties ?? {}
    for (const seed of SEEDS) {
      const wish = { optional: 'some', full: true } as const
      const result = generate(resultSchema ?? {}, seed, wish)
      const error = generate(errorSchema ?? {}, seed, wish) as { status: number; detail?: string; title: string }
      const polls = [job, { ...job, status: 'running' }, { ...job, status: 'succeeded', result }]
      expect(await client(() => ({ status: 200, body: polls.shift() })).wait(submitted.job_id)).toEqual(result)
      const failed = client(() => ({ status: 200, body: { ...job, status: 'failed', error } })).wait(submitted.job_id)
      await expect(failed).rejects.toMatchObject({ status: error.status, message: error.detail || error.title })
    }
  })

  it('refuses submissions and jobs that break it', async () => {
    for (const body of [{}, { job_id: 1 }, { ...submitted, job_id: 'none' }, [], null])
      await expect(client(() => ({ status: 202, body })).submit('validate', BODIES.validate)).rejects.toMatchObject({
        status: 502,
      })
    for (const body of [
      {},
      { ...job, status: 'done' },
      { ...job, status: 'succeeded' },
      { ...job, status: 'failed' },
      { ...job, status: 'succeeded', result: { exit_code: '0', stdout: '', stderr: '' } },
    ])
      await expect(client(() => ({ status: 200, body })).wait(submitted.job_id)).rejects.toMatchObject({ status: 502 })
  })

  it('submits the additions as the contract describes them, where they are announced', async () => {
    const asked: string[] = []
    const stdout = JSON.stringify({
      format_version: '1.0',
      providers: {},
      valid: true,
      error_count: 0,
      warning_count: 0,
      diagnostics: [],
      texts: ['days = 7\n'],
    })
    const offering = client((operation) => {
      asked.push(operation.id)
      if (operation.id === 'engine')
        return {
          status: 200,
          body: { name: 'OpenTofu', version: '1.10.6', additions: ['schema', 'diagnostics', 'fmt'] },
        }
      if (operation.id !== 'job') return { status: 202, body: submitted }
      return { status: 200, body: { ...job, status: 'succeeded', result: { exit_code: 0, stdout, stderr: '' } } }
    })
    expect(
      await offering.schema({
        workspace_path,
        resource_types: ['aws_s3_bucket'],
        data_source_types: ['aws_iam_policy_document'],
      }),
    ).not.toBeNull()
    expect(await offering.schema({ workspace_path })).not.toBeNull()
    expect(await offering.diagnostics({ workspace_path })).toEqual([])
    expect(await offering.fmt?.(workspace_path, [{ form: 'tfvars', text: 'days=7\n' }])).toEqual(['days = 7\n'])
    expect(asked).toEqual(expect.arrayContaining(['schema', 'diagnostics', 'fmt']))
  })

  it('asks for the engine', async () => {
    for (const body of answersOf('iac', 'engine', 200))
      expect(await client(() => ({ status: 200, body })).engine()).toMatchObject({
        name: body.name,
        version: body.version,
      })
  })
})
