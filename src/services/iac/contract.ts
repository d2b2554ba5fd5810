import type { Cloud } from '../../base/vocabulary.ts'
import type { EngineDiagnostic, FollowedOutput, SchemaParts } from './answers.ts'

interface Scoped {
  scope_id: string
  engine_provider: Cloud
}
/** Bodies of the submission routes, by job kind. */
export interface IacJobs {
  init: { workspace_path: string } & Scoped
  validate: { workspace_path: string }
  plan: { workspace_path: string; plan_file: string; targets?: string[] } & Scoped
  show: { workspace_path: string; plan_file: string }
  /** `plan_sha256` only where the service offers it. */
  apply: { workspace_path: string; plan_file: string; plan_sha256?: string } & Scoped
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
  /** Sent only to a service that names such types itself: an older one refuses it. */
  ephemeral_types?: string[]
}

/** A text to format, with the extension of its file. */
export interface CodeText {
  form: 'tf' | 'tfvars'
  text: string
}

export interface EngineResult {
  exit_code: number
  stdout: string
  stderr: string
}

/**
 * Submits engine commands and waits for them. A non-zero exit code of the engine is a result, not an error. Throws
 * `PlatformError` with 504 `IaC job <id> did not finish within <n>s.` or when a request times out, with 502 when the
 * service cannot be reached or breaks the contract, and with the status that the service reports when the job itself
 * failed.
 */
export interface IacClient {
  submit<Kind extends IacJobKind>(kind: Kind, body: IacJobs[Kind], signal?: AbortSignal): Promise<string>
  /** Waits for a job. `resubmit` submits a lost job once more; never used for `apply` and `import`. */
  wait(jobId: string, options?: { signal?: AbortSignal; resubmit?: () => Promise<string> }): Promise<EngineResult>
  /** Submits a job and waits for it. `onSubmitted` is awaited before the first poll, so that it can record the id. */
  run<Kind extends IacJobKind>(
    kind: Kind,
    body: IacJobs[Kind],
    options?: { signal?: AbortSignal; onSubmitted?: (jobId: string) => Promise<void> },
  ): Promise<EngineResult>
  /** Reports whether the sidecar answers its health check within its timeout. Never throws. */
  healthy(signal?: AbortSignal): Promise<boolean>
  /** Reads name and version of the engine; null when the service lacks the optional `GET /v1/engine`. */
  engine(signal?: AbortSignal): Promise<EngineInfo | null>
  /** Reports whether the service currently announces an addition, which an older version after a restart may not. */
  offers?(addition: 'plan_sha256', signal?: AbortSignal): Promise<boolean>
  /**
   * Reads parts of the providers' schemas in an initialised workspace: those of the given types, at most 64 resource
   * and 64 data types, or without any the names of all types. Returns null instead of throwing, also when the service
   * does not offer it or needs more than 30 s.
   */
  schema(request: SchemaRequest, signal?: AbortSignal): Promise<SchemaParts | null>
  /** Reads the engine's machine-readable diagnostics of the code; null instead of an error, like `schema`. */
  diagnostics(workspacePath: string, signal?: AbortSignal): Promise<EngineDiagnostic[] | null>
  /**
   * Formats texts like the engine's `fmt`: at most 256, with 1,000,000 characters each and 8 MiB as JSON together. A
   * text that cannot be parsed is returned unchanged. Returns null instead of throwing, like `schema`.
   */
  fmt?(workspacePath: string, texts: readonly CodeText[], signal?: AbortSignal): Promise<string[] | null>
  /** Reads the last lines of a running job's output so far; null instead of an error, like `schema`. */
  output?(jobId: string, signal?: AbortSignal): Promise<{ stdout: string; stderr: string } | null>
  /**
   * Reads whole lines of a job's output from two offsets on, 0 or those of an earlier answer. The service may delay its
   * response by up to `waitSeconds`, until there is more output or the job has ended. It masks its credentials. Returns
   * null when it does not offer this or does not know the job, `missed` when a later attempt may succeed. Never throws.
   */
  outputFrom?(
    jobId: string,
    from: { stdout: number; stderr: number },
    options: { waitSeconds: number; signal?: AbortSignal },
  ): Promise<FollowedOutput | 'missed' | null>
  /**
   * Asks the service to stop a job: a waiting one never starts, a running one is interrupted, so that its engine saves
   * its state and releases the state lock. Returns false when the service does not offer this, does not know the job or
   * cannot be reached. The job then ends like any other; `wait` returns its result. Never throws.
   */
  cancel?(jobId: string, signal?: AbortSignal): Promise<boolean>
}
