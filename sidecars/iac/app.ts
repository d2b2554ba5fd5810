import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import type { Hono } from 'hono'
import { z } from 'zod'
import type { Logger } from '../../src/base/log.ts'
import { RESOURCE_ADDRESS } from '../../src/hcl/address.ts'
import { answerUnexpected, createSidecarApp, problemResponse, readBody } from '../shared/http.ts'
import { addJobRoutes } from './jobs/routes.ts'
import type { JobService } from './jobs/service.ts'
import type { JobStore } from './jobs/store.ts'
import { refuseFolder } from './limits/refuse.ts'
import type { JobSecrets } from './output/secrets.ts'
import type { Boundary } from './sandbox/executor.ts'
import type { IacSettings } from './settings.ts'
import {
  ADDITIONS,
  ENGINE_PROVIDERS,
  type Engine,
  JOB_KINDS,
  JobFault,
  type JobKind,
  type JobRequest,
} from './types.ts'

/** The limit of bodies with a workspace, a scope and an import. */
const MAX_BODY_BYTES = 64 * 1024
/** Kinds with larger bodies: a plan has up to 256 targets of 4096 characters, `fmt` the texts of whole files. */
const MAX_BYTES_OF: Partial<Record<JobKind, number>> = { plan: 4 * 1024 * 1024, fmt: 8 * 1024 * 1024 }

/** Creates the HTTP routes of `contracts/iac.v1.yaml`. */
export function createIacApp(options: {
  engine: Engine
  boundary: Boundary
  jobs: JobService
  store: JobStore
  secrets: JobSecrets
  settings: IacSettings
  log: Logger
}): Hono {
  const { engine, boundary, jobs, store, secrets, settings, log } = options
  const app = createSidecarApp({ token: settings.token, log })
  app.onError((error) =>
    error instanceof JobFault ? problemResponse(error.status, error.message) : answerUnexpected(error, log),
  )
  app.get('/v1/engine', (c) =>
    c.json({
      name: engine.name,
      version: engine.version,
      additions: [
        ...ADDITIONS,
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
        ...(settings.refuseHostToken ? [] : ['module_credentials']),
      ],
      ...boundary,
    }),
  )
  for (const kind of JOB_KINDS) addSubmitRoute(app, kind, jobs, settings)
  addJobRoutes(app, { jobs, store, secrets })
  return app
}

/** Checks the body, then the workspace: the order of the contract, after the token. */
function addSubmitRoute(app: Hono, kind: JobKind, jobs: JobService, settings: IacSettings): void {
  app.post(ROUTES[kind], async (c) => {
    const body = await readBody(c, BODIES[kind], { maxBytes: MAX_BYTES_OF[kind] ?? MAX_BODY_BYTES })
    if (!body.ok) return body.response
    const workspacePath = await resolveWorkspace(body.value.workspace_path)
    if (workspacePath === null)
      return problemResponse(404, `workspace_path does not exist or is not a directory: ${body.value.workspace_path}`)
    const reason = await refuseFolder(body.value.workspace_path, workspacePath, settings)
    if (reason !== null)
      return problemResponse(404, `workspace_path is no workspace: ${body.value.workspace_path}`, reason)
    const { job_id, status } = await jobs.submit(kind, { ...body.value, workspace_path: workspacePath })
    return c.json({ job_id, status }, 202, { location: `/v1/jobs/${job_id}` })
  })
}

// Values become arguments and environment entries: no NUL, and no leading `-`, which the engine reads as an option.
const noNul = (text: z.ZodString) => text.refine((value) => !value.includes('\0'), 'must not contain NUL')
const workspacePath = noNul(z.string().min(1).max(4096).startsWith('/', 'must be an absolute path'))
const argument = noNul(z.string().min(1).max(4096)).refine((value) => !value.startsWith('-'), 'must not begin with "-"')
const resourceAddress = z.string().max(4096).regex(RESOURCE_ADDRESS, 'must be the address of one managed resource')
const repository = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^[^\s:]+(?::\d+)?\/[^\s:]*$/, 'must be host/path')
const planFile = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/)
  .refine((value) => value !== '.' && value !== '..' && !value.startsWith('-'), 'must be a file name')
const types = z.array(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,127}$/, 'must be the name of a type')).max(64)
const text = z.strictObject({
  form: z.enum(['tf', 'tfvars']),
  text: z
    .string()
    .max(1_000_000)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode'),
})
const scoped = { scope_id: noNul(z.string().min(1).max(1024)), engine_provider: z.enum(ENGINE_PROVIDERS) }

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal digits')
const state = z.strictObject({ cloud: z.enum(ENGINE_PROVIDERS).nullable(), override_sha256: sha256 })
const login = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\r\n\0]+$/, 'must be one line')
const moduleCredentials = z.strictObject({
  origin: z
    .string()
    .max(1024)
    .regex(/^https:\/\/[a-z0-9.[\]:-]+$/, 'must be https://host[:port]')
    .refine((value) => URL.canParse(value), 'must be https://host[:port]'),
  user: login,
  token: login,
})
/** Returns a body with a workspace and these fields. Undeclared keys are refused. */
const bodyWith = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.strictObject({
    workspace_path: workspacePath,
    repository: repository.optional(),
    state: state.optional(),
    ...fields,
  })

/** Bodies of the submission routes. */
export const BODIES: Record<JobKind, z.ZodType<JobRequest>> = {
  init: bodyWith({
    ...scoped,
    migrate_state: z.boolean().optional(),
    module_credentials: moduleCredentials.optional(),
  }),
  validate: bodyWith({ json: z.boolean().optional() }),
  plan: bodyWith({
    ...scoped,
    plan_file: planFile,
    targets: z.array(argument).max(256).default([]),
    lock: z.boolean().optional(),
    json: z.boolean().optional(),
  }),
  show: bodyWith({ plan_file: planFile }),
  apply: bodyWith({ ...scoped, plan_file: planFile, plan_sha256: sha256.optional() }),
  import: bodyWith({ ...scoped, address: argument, resource_id: argument }),
  state_resource_ids: bodyWith({}),
  scope_resource_ids: bodyWith(scoped),
  schema: bodyWith({
    resource_types: types.optional(),
    data_source_types: types.optional(),
    ephemeral_types: types.optional(),
  }),
  diagnostics: bodyWith({ programs_only: z.boolean().optional() }),
  state_summary: bodyWith(scoped),
  state_rm: bodyWith({ ...scoped, address: resourceAddress }),
  fmt: z.strictObject({ workspace_path: workspacePath, texts: z.array(text).min(1).max(256) }),
}

export const ROUTES: Record<JobKind, string> = {
  init: '/v1/init',
  validate: '/v1/validate',
  plan: '/v1/plan',
  show: '/v1/show',
  apply: '/v1/apply',
  import: '/v1/import',
  state_resource_ids: '/v1/import/state-resource-ids',
  scope_resource_ids: '/v1/import/scope-resource-ids',
  schema: '/v1/schema',
  diagnostics: '/v1/diagnostics',
  fmt: '/v1/fmt',
  state_summary: '/v1/state-summary',
  state_rm: '/v1/state-rm',
}

/** Returns the real path of a workspace, the key of its queue; null if the engine cannot enter it. */
async function resolveWorkspace(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) return null
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch {
    return null
  }
}
