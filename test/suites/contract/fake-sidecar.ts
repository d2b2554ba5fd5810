import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Running, ServerAnswer, ServerRequest } from '../../../dev/server.ts'
import { jsonOf, startFake } from './http.ts'

/** Kinds of jobs that every sidecar has. Only these are served. */
export type Kind =
  | 'init'
  | 'validate'
  | 'plan'
  | 'show'
  | 'apply'
  | 'import'
  | 'state_resource_ids'
  | 'scope_resource_ids'

const SCOPED = ['workspace_path', 'scope_id', 'engine_provider']
const ROUTES: Record<string, { kind: Kind; required: string[]; optional?: string[] }> = {
  '/v1/init': { kind: 'init', required: SCOPED },
  '/v1/validate': { kind: 'validate', required: ['workspace_path'] },
  '/v1/plan': { kind: 'plan', required: [...SCOPED, 'plan_file'], optional: ['targets'] },
  '/v1/show': { kind: 'show', required: ['workspace_path', 'plan_file'] },
  '/v1/apply': { kind: 'apply', required: [...SCOPED, 'plan_file'] },
  '/v1/import': { kind: 'import', required: [...SCOPED, 'address', 'resource_id'] },
  '/v1/import/state-resource-ids': { kind: 'state_resource_ids', required: ['workspace_path'] },
  '/v1/import/scope-resource-ids': { kind: 'scope_resource_ids', required: SCOPED },
}

export interface Body {
  [key: string]: unknown
  workspace_path: string
  scope_id?: string
  plan_file?: string
  targets?: string[]
  address?: string
  resource_id?: string
}
export interface Submission {
  kind: Kind
  body: Body
  /** Number of the job of this kind, from 1. */
  number: number
}
/** End of a job: an engine result, a fault of the service, or none, because the job is forgotten or never ends. */
export type Outcome =
  | { exit_code?: number; stdout?: string; stderr?: string }
  | { fault: number; detail: string }
  | 'lost'
  | 'endless'

interface Behaviour {
  submissions: Submission[]
  /** Requests outside of the contract. */
  unknown_routes: string[]
  polls: number
  /** Number of polls with `running` before the end. */
  busy_polls: number
  /** True if `plan` leaves a file behind. */
  touches_disk: boolean
  /** The answer of `show`. */
  plan: unknown
  /** Undefined means a successful job. */
  script: (submission: Submission) => Outcome | undefined
}
export interface FakeSidecar extends Running, Behaviour {
  kinds(): Kind[]
  of(kind: Kind): Submission[]
  reset(): void
}

export const EMPTY_PLAN = { format_version: '1.2', resource_changes: [] }

const atFirst = (): Behaviour => ({
  submissions: [],
  unknown_routes: [],
  polls: 0,
  busy_polls: 0,
  touches_disk: true,
  plan: EMPTY_PLAN,
  script: () => undefined,
})

interface Job {
  kind: Kind
  polls: number
  outcome: Outcome
  created_at: string
}

/** Starts a sidecar that is written from the contract alone: no additions, no held answers. */
export async function startFakeSidecar(token: string): Promise<FakeSidecar> {
  const jobs = new Map<string, Job>()
  const fake: FakeSidecar = {
    ...(await startFake(respond)),
    ...atFirst(),
    kinds: () => fake.submissions.map(({ kind }) => kind),
    of: (kind) => fake.submissions.filter((one) => one.kind === kind),
    reset: () => void Object.assign(fake, atFirst()),
  }

  async function respond(request: ServerRequest): Promise<ServerAnswer> {
    const { path } = request
    const problem = (status: number, title: string): ServerAnswer => ({
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: { type: 'about:blank', title, status },
    })
    if (path === '/healthz') return { status: 200, body: { status: 'ok' } }
    if (request.headers.authorization !== `Bearer ${token}`) return problem(401, 'Unauthorized')
    const id = /^\/v1\/jobs\/([0-9a-f-]{36})$/.exec(path)?.[1]
    if (request.method === 'GET' && id !== undefined) {
      const answer = poll(id)
      return answer === null ? problem(404, `Unknown or expired job: ${id}`) : { status: 200, body: answer }
    }
    const route = ROUTES[path]
    if (request.method !== 'POST' || !route) {
      fake.unknown_routes.push(`${request.method} ${path}`)
      return problem(404, 'Not Found')
    }
    const body = (await jsonOf(request)) as Body
    const fault = faultOf(body, route)
    if (fault !== null) return problem(422, fault)
    if (!existsSync(body.workspace_path) || !statSync(body.workspace_path).isDirectory())
      return problem(404, `workspace_path does not exist or is not a directory: ${body.workspace_path}`)
    const submission = { kind: route.kind, body, number: fake.of(route.kind).length + 1 }
    fake.submissions.push(submission)
    const job_id = crypto.randomUUID()
    const outcome = fake.script(submission) ?? usual(submission)
    jobs.set(job_id, { kind: route.kind, polls: 0, outcome, created_at: new Date().toISOString() })
    return { status: 202, headers: { location: `/v1/jobs/${job_id}` }, body: { job_id, status: 'queued' } }
  }

  function usual({ kind, number, body }: Submission): Outcome {
    if (kind === 'plan' && fake.touches_disk)
      writeFileSync(join(body.workspace_path, body.plan_file ?? ''), `plan ${number} ${crypto.randomUUID()}`)
    if (kind === 'plan') return { stdout: `Plan text number ${number}` }
    if (kind === 'show') return { stdout: JSON.stringify(fake.plan) }
    if (kind.endsWith('_ids')) return { stdout: '[]' }
    return { stdout: `${kind} went well` }
  }

  function poll(job_id: string): object | null {
    const job = jobs.get(job_id)
    if (!job || job.outcome === 'lost') return null
    fake.polls++
    job.polls++
    const { kind, created_at, outcome } = job
    const common = { job_id, kind, created_at, started_at: created_at }
    if (outcome === 'endless' || job.polls <= fake.busy_polls)
      return { ...common, status: 'running', finished_at: null, result: null, error: null }
    const finished_at = new Date().toISOString()
    if ('fault' in outcome) {
      const error = { type: 'about:blank', title: 'Fault', status: outcome.fault, detail: outcome.detail }
      return { ...common, status: 'failed', finished_at, result: null, error }
    }
    const result = { exit_code: 0, stdout: '', stderr: '', ...outcome }
    return { ...common, status: 'succeeded', finished_at, result, error: null }
  }

  return fake
}

function faultOf(body: Body, route: { required: string[]; optional?: string[] }): string | null {
  const undeclared = Object.keys(body).filter((key) => ![...route.required, ...(route.optional ?? [])].includes(key))
  const missing = route.required.filter((key) => typeof body[key] !== 'string' || body[key] === '')
  if (undeclared.length + missing.length > 0) return `undeclared: ${undeclared}; missing: ${missing}`
  return body.plan_file === undefined || /^[A-Za-z0-9._-]{1,128}$/.test(body.plan_file) ? null : 'plan_file'
}
