import * as v from 'valibot'

const names = v.optional(v.array(v.string()), [])
const schemas = v.optional(v.record(v.string(), v.unknown()), {})

/** `stdout` of a `schema` job. The schemas themselves are read leniently where they are shown. */
export const SchemaPartsSchema = v.object({
  providers: v.record(
    v.string(),
    v.object({
      version: v.optional(v.string()),
      resource_schemas: schemas,
      data_source_schemas: schemas,
      resource_types: names,
      data_source_types: names,
    }),
  ),
  missing: names,
  left_out: names,
})
export type SchemaParts = v.InferOutput<typeof SchemaPartsSchema>

const whole = v.pipe(v.number(), v.integer())
const DiagnosticSchema = v.object({
  severity: v.string(),
  summary: v.string(),
  detail: v.fallback(v.string(), ''),
  address: v.fallback(v.optional(v.string()), undefined),
  range: v.fallback(v.optional(v.object({ filename: v.string(), start: v.object({ line: whole }) })), undefined),
  snippet: v.fallback(
    v.optional(v.object({ context: v.fallback(v.nullish(v.string()), null), code: v.string(), start_line: whole })),
    undefined,
  ),
})
/** One entry of `validate -json`, as far as it is used. */
export type EngineDiagnostic = v.InferOutput<typeof DiagnosticSchema>

/** `stdout` of a `diagnostics` job. */
export const DiagnosticsSchema = v.pipe(
  v.object({ diagnostics: v.array(DiagnosticSchema) }),
  v.transform(({ diagnostics }) => diagnostics),
)

/** The additions that the service announces; an implementation of the bare contract announces none. */
export const AnnouncementSchema = v.object({ additions: v.array(v.string()) })

/** The end of what a job has written so far. */
export const LiveOutputSchema = v.object({ stdout: v.string(), stderr: v.string() })
