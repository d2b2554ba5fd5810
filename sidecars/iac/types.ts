import type { ProcessIdentity } from '../../src/runtime/process-identity.ts'
import type { Problem } from '../shared/http.ts'

/** Kinds that are additions to the contract, which a replacement of this service may omit. */
export const ADDITIONS = ['schema', 'diagnostics', 'fmt', 'state_summary', 'state_rm'] as const
export const JOB_KINDS = [
  'init',
  'validate',
  'plan',
  'show',
  'apply',
  'import',
  'state_resource_ids',
  'scope_resource_ids',
  ...ADDITIONS,
] as const
export type JobKind = (typeof JOB_KINDS)[number]
export const ENGINE_PROVIDERS = ['azure', 'gcp', 'aws', 'oci', 'kubernetes'] as const
export type EngineProvider = (typeof ENGINE_PROVIDERS)[number]

/** The input of a job. Fields that its kind does not have are absent; `workspace_path` holds no links. */
export interface JobRequest {
  workspace_path: string
  /** The repository whose clone holds the workspace, as `host/path`. */
  repository?: string
  /** The worker's facts about the state: the cloud of its store, and the hash of the worker's own override file. */
  state?: { cloud: EngineProvider | null; override_sha256: string }
  /** True if an init copies the state of the backend that the workspace is initialised with to the configured one. */
  migrate_state?: boolean
  scope_id?: string
  engine_provider?: EngineProvider
  plan_file?: string
  /** The required SHA-256 of an apply's plan file. */
  plan_sha256?: string
  targets?: string[]
  /** False for a plan that does not take the lock of the state, so that it hinders no other command. */
  lock?: boolean
  /** True for a plan whose stdout is the engine's events as data, one JSON object a line, or a validation as JSON. */
  json?: boolean
  address?: string
  resource_id?: string
  resource_types?: string[]
  data_source_types?: string[]
  ephemeral_types?: string[]
  texts?: GivenText[]
  /** What git signs in with at the session's own host. `origin` is `https://host[:port]`. */
  module_credentials?: { origin: string; user: string; token: string }
  /** True for `diagnostics` of the check for host programs alone. */
  programs_only?: boolean
}

/** A text to format, with the extension that fixes its syntax. It has no file name that could lead elsewhere. */
export interface GivenText {
  form: 'tf' | 'tfvars'
  text: string
}

/** A job on disk. Its output lies beside it in two files and is not part of the record. */
export interface JobRecord {
  job_id: string
  kind: JobKind
  workspace_path: string
  status: 'queued' | 'running' | 'succeeded' | 'failed'
  created_at: string
  started_at: string | null
  finished_at: string | null
  exit_code: number | null
  error: Problem | null
  /** The engine process while the job runs, for a service that starts after a crash. */
  process: EngineProcess | null
  /** True once a caller has cancelled the job. It may still end with a result. */
  cancelled?: boolean
}

export interface EngineProcess extends ProcessIdentity {
  /** True if the kernel interrupts the engine once the service has died. */
  interrupts_itself?: boolean
  /** True once the service has interrupted it. */
  interrupted?: boolean
}

export interface Engine {
  binary: string
  name: string
  version: string
}

/** Thrown when a job ends without a result of the engine. The message becomes part of the job's `error`. */
export class JobFault extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'JobFault'
    this.status = status
  }
}
export const SHUT_DOWN = 'Service shut down before the job finished.'
/** The messages of a cancelled job that never started, and of one that ended without a result. */
export const CANCELLED_EARLY = 'The job was cancelled before it started.'
export const CANCELLED = 'The job was cancelled.'
