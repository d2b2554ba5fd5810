import * as v from 'valibot'
import type { OutboundResponse } from '../../base/http.ts'

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
      v.object({ context: v.fallback(v.nullish(v.string()), null), code: v.string(), start_line: IntegerSchema }),
    ),
    undefined,
  ),
})

/** One entry of the engine's `validate -json`, with the fields that the platform uses. */
export type EngineDiagnostic = v.InferOutput<typeof DiagnosticSchema>

/** `stdout` of a `diagnostics` job. */
export const DiagnosticsSchema = v.pipe(
  v.object({ diagnostics: v.array(DiagnosticSchema) }),
  v.transform(({ diagnostics }) => diagnostics),
)

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

export const EngineSchema = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  version: v.pipe(v.string(), v.minLength(1)),
})

/** Parses the body of a response. Undefined when it is not JSON: no schema accepts that. */
export function parseJsonBody(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch {
    return undefined
  }
}
