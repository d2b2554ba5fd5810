import * as v from 'valibot'
import type { OutboundResponse } from '../../base/http.ts'
import { parseJson } from '../../base/json.ts'
import type { Cloud } from '../../base/vocabulary.ts'

interface Scoped {
  scope_id: string
  engine_provider: Cloud
}
/** The worker's own facts about the state of a workspace, so that the service reads none of them there. */
export interface StateFacts {
  /** The cloud whose credentials the state store needs; null for none. */
  cloud: Cloud | null
  /** SHA-256 of the file with which the worker sends the state to its store, in lower-case hexadecimal digits. */
  override_sha256: string
}
/** An engine root. */
export interface EngineRoot {
  workspace_path: string
  /** The repository of the root as `host/path`. The client leaves it out where the service does not offer it. */
  repository?: string
  /** The client leaves it out where the service does not offer it. */
  state?: StateFacts
}
/** What git signs in with at the host of the session's repository. */
export interface ModuleCredentials {
  /** `https://host[:port]` */
  origin: string
  user: string
  token: string
}
/** Bodies of the submission routes, by job kind. */
export interface IacJobs {
  /** `migrate_state` only where the service offers it. */
  init: EngineRoot & Scoped & { migrate_state?: true; module_credentials?: ModuleCredentials }
  /** `json` for diagnostics as data instead of texts. The client leaves it out where the service does not offer it. */
  validate: EngineRoot & { json?: true }
  /**
   * `lock` only where the service offers it; `json` for events as data instead of texts, which the client leaves out
   * where the service does not offer it.
   */
  plan: EngineRoot & { plan_file: string; targets?: string[]; lock?: false; json?: true } & Scoped
  show: EngineRoot & { plan_file: string }
  /** `plan_sha256` only where the service offers it. */
  apply: EngineRoot & { plan_file: string; plan_sha256?: string } & Scoped
  import: EngineRoot & { address: string; resource_id: string } & Scoped
  state_resource_ids: EngineRoot
  /** Only where the service offers it. */
  state_summary: EngineRoot & Scoped
  /** Removes one object from the state; it stays in the cloud. Only where the service offers it. */
  state_rm: EngineRoot & { address: string } & Scoped
  scope_resource_ids: EngineRoot & Scoped
}
export type IacJobKind = keyof IacJobs

export interface SchemaRequest extends EngineRoot {
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

/**
 * Submits engine commands and waits for them. A non-zero exit code of the engine is a result, not an error. Throws
 * `PlatformError` with 504 `IaC job <id> did not finish within <n>s.` or when a request times out, with 502 when the
 * service cannot be reached or breaks the contract, and with the status that the service reports when the job itself
 * failed.
 */
export interface IacClient {
  submit<Kind extends IacJobKind>(kind: Kind, body: IacJobs[Kind], signal?: AbortSignal): Promise<string>
  /** Waits for a job. `resubmit` submits a lost job once more; never used for jobs that write the state. */
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
  offers?(
    addition:
      | 'plan_sha256'
      | 'state_summary'
      | 'state_rm'
      | 'migrate_state'
      | 'module_credentials'
      | 'lock'
      | 'plan_json'
      | 'validate_json',
    signal?: AbortSignal,
  ): Promise<boolean>
  /**
   * Reads parts of the providers' schemas in an initialised workspace: those of the given types, at most 64 resource
   * and 64 data types, or without any the names of all types. Returns null instead of throwing, also when the service
   * does not offer it or needs more than 30 s.
   */
  schema(request: SchemaRequest, signal?: AbortSignal): Promise<SchemaParts | null>
  /** Reads the engine's machine-readable diagnostics of the code; null instead of an error, like `schema`. */
  diagnostics(root: EngineRoot, signal?: AbortSignal): Promise<EngineDiagnostic[] | null>
  /**
   * Lists what the jobs of a workspace would be refused for, without an engine command; null instead of an error, like
   * `schema`.
   */
  programs?(root: EngineRoot, signal?: AbortSignal): Promise<ProgramFinding[] | null>
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

const NamesSchema = v.optional(v.array(v.string()), [])

const SchemasSchema = v.optional(v.record(v.string(), v.unknown()), {})

/** `stdout` of a `schema` job. The schemas inside are not checked here: their readers skip unreadable ones. */
export const SchemaPartsSchema = v.object({
  providers: v.record(
    v.string(),
    v.object({
      version: v.optional(v.string()),
      resource_schemas: SchemasSchema,
      data_source_schemas: SchemasSchema,
      ephemeral_resource_schemas: SchemasSchema,
      resource_types: NamesSchema,
      data_source_types: NamesSchema,
      ephemeral_types: NamesSchema,
    }),
  ),
  missing: NamesSchema,
  left_out: NamesSchema,
})

export type SchemaParts = v.InferOutput<typeof SchemaPartsSchema>

const IntegerSchema = v.pipe(v.number(), v.integer())

const DiagnosticSchema = v.object({
  severity: v.string(),
  summary: v.string(),
  detail: v.fallback(v.string(), ''),
  address: v.fallback(v.optional(v.string()), undefined),
  range: v.fallback(
    v.optional(v.object({ filename: v.string(), start: v.object({ line: IntegerSchema }) })),
    undefined,
  ),
  snippet: v.fallback(
    v.optional(
      v.object({
        context: v.fallback(v.nullish(v.string()), null),
        code: v.string(),
        start_line: IntegerSchema,
        /** What the names in the code stood for. */
        values: v.fallback(v.optional(v.array(v.object({ traversal: v.string(), statement: v.string() }))), undefined),
      }),
    ),
    undefined,
  ),
})

/** One entry of the engine's `validate -json`, with the fields that the platform uses. */
export type EngineDiagnostic = v.InferOutput<typeof DiagnosticSchema>

/** `stdout` of a `state_summary` job. */
export const StateSummarySchema = v.object({
  lineage: v.string(),
  serial: v.pipe(IntegerSchema, v.minValue(0)),
  addresses: v.array(v.string()),
  content_sha256: v.string(),
  workspaces: v.nullable(v.array(v.string())),
})

/**
 * What a state holds: lineage and serial, empty and 0 for none; the addresses of its objects; a hash of its content.
 */
export type StateSummary = v.InferOutput<typeof StateSummarySchema>

/** `stdout` of a `diagnostics` job. */
export const DiagnosticsSchema = v.pipe(
  v.object({ diagnostics: v.array(DiagnosticSchema) }),
  v.transform(({ diagnostics }) => diagnostics),
)

const EventSchema = v.object({ type: v.literal('diagnostic'), diagnostic: DiagnosticSchema })

/** Reads the diagnostics among the events that a plan with `json` prints, one JSON object a line; skips other lines. */
export const diagnosticsIn = (events: string): EngineDiagnostic[] =>
  events.split('\n').flatMap((line) => {
    const event = v.safeParse(EventSchema, parseJson(line))
    return event.success ? [event.output.diagnostic] : []
  })

/** `stdout` of a `diagnostics` job with `programs_only`. */
export const ProgramFindingsSchema = v.pipe(
  v.object({
    diagnostics: v.array(
      v.object({
        /** The construct, for example `provisioner "local-exec"`. */
        summary: v.string(),
        /** What it would do. */
        detail: v.string(),
        /** Relative to the engine root; line 0 means the whole file. */
        range: v.object({ filename: v.string(), start: v.object({ line: IntegerSchema }) }),
        /** The operator's setting that would allow it, with its value or an entry of its list; null for none. */
        allowed_by: v.nullable(v.object({ setting: v.string(), value: v.string() })),
      }),
    ),
  }),
  v.transform(({ diagnostics }) => diagnostics),
)

/** A construct for which the iac service refuses every job of a workspace. */
export type ProgramFinding = v.InferOutput<typeof ProgramFindingsSchema>[number]

/** `stdout` of a `fmt` job. */
export const FormattedSchema = v.pipe(
  v.object({ texts: v.array(v.string()) }),
  v.transform(({ texts }) => texts),
)

/** The additions that the service announces at `GET /v1/engine`; may be absent. */
export const AnnouncementSchema = v.object({ additions: NamesSchema })

/** The last part of a running job's output so far. */
export const LiveOutputSchema = v.object({ stdout: v.string(), stderr: v.string() })

/** The output of a job from two offsets on, and the next offsets. */
export const FollowedOutputSchema = v.object({
  status: v.picklist(['queued', 'running', 'succeeded', 'failed']),
  stdout: v.string(),
  stderr: v.string(),
  stdout_next: v.pipe(IntegerSchema, v.minValue(0)),
  stderr_next: v.pipe(IntegerSchema, v.minValue(0)),
})

export type FollowedOutput = v.InferOutput<typeof FollowedOutputSchema>

export const CancelledSchema = v.object({ job_id: v.string(), status: v.string() })

/** The response to a submission. This and all schemas below ignore unknown keys. */
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
export type EngineResult = v.InferOutput<typeof ResultSchema>

export const EngineSchema = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  version: v.pipe(v.string(), v.minLength(1)),
})

/** For example `{name: 'OpenTofu', version: '1.10.6'}`. */
export type EngineInfo = v.InferOutput<typeof EngineSchema>

/** Returns the body of a response with this status; null for another status, and for a body that breaks the schema. */
export function readBody<Schema extends v.GenericSchema>(
  schema: Schema,
  { status, text }: OutboundResponse,
  expected = 200,
): v.InferOutput<Schema> | null {
  const parsed = status === expected ? v.safeParse(schema, parseJson(text())) : null
  return parsed?.success ? parsed.output : null
}
