import type { Hono } from 'hono'
import { z } from 'zod'
import type { Logger } from '../../src/base/log.ts'
import { answerUnexpected, createSidecarApp } from '../shared/create-app.ts'
import { problemResponse } from '../shared/problem.ts'
import { readBody } from '../shared/read-body.ts'
import type { JobService } from './jobs/service.ts'
import type { JobStore } from './jobs/store.ts'
import { answerWithJob } from './output/job-answer.ts'
import type { JobSecrets } from './output/job-secrets.ts'
import { readLiveOutput } from './output/masking.ts'
import { BODIES, JOB_ID, ROUTES, resolveWorkspace } from './requests.ts'
import type { Boundary } from './sandbox/executor.ts'
import { ADDITIONS, type Engine, JOB_KINDS, JobFault, type JobKind } from './types.ts'

/** A workspace, a scope and an import fit into this. */
const MAX_BODY_BYTES = 64 * 1024
/** Kinds with larger bodies: the targets of a plan, 256 of 4096 characters, and the texts of whole files. */
const MAX_BYTES_OF: Partial<Record<JobKind, number>> = { plan: 4 * 1024 * 1024, fmt: 8 * 1024 * 1024 }
const MAX_WAIT_SECONDS = 60

/** The HTTP surface of the service, as `contracts/iac.v1.yaml` describes it. */
export function createIacApp(options: {
  token: string
  engine: Engine
  boundary: Boundary
  jobs: JobService
  store: JobStore
  secrets: JobSecrets
  log: Logger
}): Hono {
  const { engine, boundary, jobs, store, secrets, log } = options
  const app = createSidecarApp({ token: options.token, log })
  app.onError((error) =>
    error instanceof JobFault ? problemResponse(error.status, error.message) : answerUnexpected(error, log),
  )
  app.get('/v1/engine', (c) =>
    c.json({
      name: engine.name,
      version: engine.version,
      additions: [...ADDITIONS, 'output', 'plan_sha256'],
      ...boundary,
    }),
  )
  for (const kind of JOB_KINDS) addSubmitRoute(app, kind, jobs)
  app.get('/v1/jobs/:job_id', async (c) => {
    const jobId = JOB_ID.safeParse(c.req.param('job_id'))
    if (!jobId.success) return problemResponse(422, 'Request validation failed', 'path.job_id: must be a UUID')
    const id = jobId.data.toLowerCase()
    const wait = preferredWait(c.req.header('prefer'))
    if (wait !== null && jobs.find(id)) await jobs.waitUntilSettled(id, wait * 1000, c.req.raw.signal)
    const record = jobs.find(id)
    if (!record) return problemResponse(404, `Unknown or expired job: ${id}`)
    return answerWithJob(record, store.output(id), wait === null ? {} : { 'preference-applied': `wait=${wait}` })
  })
  app.get('/v1/jobs/:job_id/output', async (c) => {
    const jobId = JOB_ID.safeParse(c.req.param('job_id'))
    const bytes = TAIL_BYTES.safeParse(c.req.query('tail_bytes'))
    if (!jobId.success) return problemResponse(422, 'Request validation failed', 'path.job_id: must be a UUID')
    if (!bytes.success)
      return problemResponse(422, 'Request validation failed', 'query.tail_bytes: must be a number from 1 to 65536')
    const id = jobId.data.toLowerCase()
    const record = jobs.find(id)
    if (!record) return problemResponse(404, `Unknown or expired job: ${id}`)
    return c.json({
      job_id: id,
      status: record.status,
      ...(await readLiveOutput(store.output(id), secrets.of(id), bytes.data)),
    })
  })
  return app
}

const TAIL_BYTES = z.coerce.number().int().min(1).max(65_536).default(4096)

/** Checks the body, then the workspace. The contract has this order, after the token. */
function addSubmitRoute(app: Hono, kind: JobKind, jobs: JobService): void {
  app.post(ROUTES[kind], async (c) => {
    const body = await readBody(c, BODIES[kind], { maxBytes: MAX_BYTES_OF[kind] ?? MAX_BODY_BYTES })
    if (!body.ok) return body.response
    const workspacePath = await resolveWorkspace(body.value.workspace_path)
    if (workspacePath === null)
      return problemResponse(404, `workspace_path does not exist or is not a directory: ${body.value.workspace_path}`)
    const { job_id, status } = await jobs.submit(kind, { ...body.value, workspace_path: workspacePath })
    return c.json({ job_id, status }, 202, { location: `/v1/jobs/${job_id}` })
  })
}

/** The seconds of `Prefer: wait=N` (RFC 7240), at most 60; null when the header asks for no waiting. */
export function preferredWait(header: string | undefined): number | null {
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(header ?? '')?.[1]
  return seconds === undefined ? null : Math.min(Number(seconds), MAX_WAIT_SECONDS)
}
