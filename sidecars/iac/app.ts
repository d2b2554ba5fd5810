import type { Hono } from 'hono'
import type { Logger } from '../../src/base/log.ts'
import { answerUnexpected, createSidecarApp } from '../shared/create-app.ts'
import { problemResponse } from '../shared/problem.ts'
import { readBody } from '../shared/read-body.ts'
import { addJobRoutes } from './jobs/routes.ts'
import type { JobService } from './jobs/service.ts'
import type { JobStore } from './jobs/store.ts'
import type { JobSecrets } from './output/secrets.ts'
import { BODIES, ROUTES, resolveWorkspace } from './requests.ts'
import type { Boundary } from './sandbox/executor.ts'
import { ADDITIONS, type Engine, JOB_KINDS, JobFault, type JobKind } from './types.ts'

/** The limit of bodies with a workspace, a scope and an import. */
const MAX_BODY_BYTES = 64 * 1024
/** Kinds with larger bodies: a plan has up to 256 targets of 4096 characters, `fmt` the texts of whole files. */
const MAX_BYTES_OF: Partial<Record<JobKind, number>> = { plan: 4 * 1024 * 1024, fmt: 8 * 1024 * 1024 }

/** Creates the HTTP routes of `contracts/iac.v1.yaml`. */
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
      additions: [...ADDITIONS, 'output', 'output_from', 'cancel', 'plan_sha256'],
      ...boundary,
    }),
  )
  for (const kind of JOB_KINDS) addSubmitRoute(app, kind, jobs)
  addJobRoutes(app, { jobs, store, secrets })
  return app
}

/** Checks the body, then the workspace: the order of the contract, after the token. */
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
