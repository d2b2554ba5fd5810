import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { z } from 'zod'
import { ENGINE_PROVIDERS, type JobKind, type JobRequest } from './types.ts'

// Values become arguments and environment entries: no NUL, and no leading `-`, which the engine reads as an option.
const noNul = (text: z.ZodString) => text.refine((value) => !value.includes('\0'), 'must not contain NUL')
const workspacePath = noNul(z.string().min(1).max(4096).startsWith('/', 'must be an absolute path'))
const argument = noNul(z.string().min(1).max(4096)).refine((value) => !value.startsWith('-'), 'must not begin with "-"')
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

/** Bodies of the submission routes. Undeclared keys are refused. */
export const BODIES: Record<JobKind, z.ZodType<JobRequest>> = {
  init: z.strictObject({ workspace_path: workspacePath, ...scoped }),
  validate: z.strictObject({ workspace_path: workspacePath }),
  plan: z.strictObject({
    workspace_path: workspacePath,
    ...scoped,
    plan_file: planFile,
    targets: z.array(argument).max(256).default([]),
  }),
  show: z.strictObject({ workspace_path: workspacePath, plan_file: planFile }),
  apply: z.strictObject({
    workspace_path: workspacePath,
    ...scoped,
    plan_file: planFile,
    plan_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal digits')
      .optional(),
  }),
  import: z.strictObject({ workspace_path: workspacePath, ...scoped, address: argument, resource_id: argument }),
  state_resource_ids: z.strictObject({ workspace_path: workspacePath }),
  scope_resource_ids: z.strictObject({ workspace_path: workspacePath, ...scoped }),
  schema: z.strictObject({
    workspace_path: workspacePath,
    resource_types: types.optional(),
    data_source_types: types.optional(),
    ephemeral_types: types.optional(),
  }),
  diagnostics: z.strictObject({ workspace_path: workspacePath }),
  fmt: z.strictObject({ workspace_path: workspacePath, texts: z.array(text).min(1).max(256) }),
}

export const JOB_ID = z.uuid()

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
}

/** Returns the real path of a workspace, the key of its queue; null if the engine cannot enter it. */
export async function resolveWorkspace(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) return null
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch {
    return null
  }
}
