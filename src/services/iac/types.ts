import * as v from 'valibot'
import type { Cloud } from '../../base/vocabulary.ts'
import type { EngineDiagnostic, SchemaParts } from './additions.ts'

interface Scoped {
  scope_id: string
  engine_provider: Cloud
}
/** Bodies of the submission routes, by job kind (contract of the iac sidecar, section 6.1). */
export interface IacJobs {
  init: { workspace_path: string } & Scoped
  validate: { workspace_path: string }
  plan: { workspace_path: string; plan_file: string; targets?: string[] } & Scoped
  show: { workspace_path: string; plan_file: string }
  apply: { workspace_path: string; plan_file: string } & Scoped
  import: { workspace_path: string; address: string; resource_id: string } & Scoped
  state_resource_ids: { workspace_path: string }
  scope_resource_ids: { workspace_path: string } & Scoped
}
export type IacJobKind = keyof IacJobs

/** For example `{name: 'OpenTofu', version: '1.10.6'}`. */
export interface EngineInfo {
  name: string
  version: string
}

export interface SchemaRequest {
  workspace_path: string
  resource_types?: string[]
  data_source_types?: string[]
}

export interface EngineResult {
  exit_code: number
  stdout: string
  stderr: string
}

/**
 * Submits engine commands and waits for them.
 * Errors: `PlatformError` 504 `IaC job <id> did not finish within <n>s.` or transport timeout, 502
 * unreachable or off contract, the problem's status when the job itself failed. A non-zero exit code
 * of the engine is a result, not an error.
 */
export interface IacClient {
  submit<Kind extends IacJobKind>(kind: Kind, body: IacJobs[Kind], signal?: AbortSignal): Promise<string>
  /** `kind` and `body` allow one resubmission of a lost job, never of `apply` or `import`. */
  wait(jobId: string, options?: { signal?: AbortSignal; resubmit?: () => Promise<string> }): Promise<EngineResult>
  /** submit + wait; `on_submitted` is awaited before the first poll, so that the id can be recorded. */
  run<Kind extends IacJobKind>(
    kind: Kind,
    body: IacJobs[Kind],
    options?: { signal?: AbortSignal; on_submitted?: (jobId: string) => Promise<void> },
  ): Promise<EngineResult>
  /** Liveness of the sidecar, within its timeout. */
  healthy(signal?: AbortSignal): Promise<boolean>
  /** Name and version of the engine; null when the implementation does not tell (`GET /v1/engine` is an addition). */
  engine(signal?: AbortSignal): Promise<EngineInfo | null>
  /**
   * Parts of the providers' schemas of an initialised workspace: of the given types, at most 64 of each, or without
   * any the names of all types. Null when the implementation does not offer it, within half a minute; never an error.
   */
  schema(request: SchemaRequest, signal?: AbortSignal): Promise<SchemaParts | null>
  /** What the engine says about the code in machine form; null like `schema`, never an error. */
  diagnostics(workspacePath: string, signal?: AbortSignal): Promise<EngineDiagnostic[] | null>
  /** The end of what a job has written so far, whole lines; null like `schema`, never an error. */
  output?(jobId: string, signal?: AbortSignal): Promise<{ stdout: string; stderr: string } | null>
}

/** What the core reads of the contract's answers; other implementations may add keys. */
export const SubmittedSchema = v.object({ job_id: v.pipe(v.string(), v.uuid()) })

const ResultSchema = v.object({ exit_code: v.pipe(v.number(), v.integer()), stdout: v.string(), stderr: v.string() })
const ProblemSchema = v.object({
  status: v.optional(v.pipe(v.number(), v.integer())),
  title: v.optional(v.string()),
  detail: v.nullish(v.string()),
})
export const JobSchema = v.variant('status', [
  v.object({ status: v.picklist(['queued', 'running']) }),
  v.object({ status: v.literal('succeeded'), result: ResultSchema }),
  v.object({ status: v.literal('failed'), error: ProblemSchema }),
])
export type JobAnswer = v.InferOutput<typeof JobSchema>

export const EngineSchema = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  version: v.pipe(v.string(), v.minLength(1)),
})
