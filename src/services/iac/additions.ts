import * as v from 'valibot'
import type { IacServiceConfig } from '../../../config/types.ts'
import type { OutboundRequest, OutboundResponse } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { type IacClient, SubmittedSchema } from './types.ts'
import { waitForJob } from './wait-for-job.ts'

type Addition = 'schema' | 'diagnostics'
interface Access {
  config: IacServiceConfig
  log: Logger
  call: (path: string, request: Partial<OutboundRequest>) => Promise<OutboundResponse>
}

/** Nobody waits longer: the round goes on without. */
const LIMITS_S: Record<Addition, number> = { schema: 30, diagnostics: 20 }
const ANNOUNCEMENT_LIMIT_MS = 5_000
const POLL_S = 1
/** After a fault that may pass the service is left alone for this long. */
const PAUSE_MS = 10 * 60_000

/**
 * The optional jobs of the iac contract. They are submitted only where the service announces them, and what an
 * implementation does not offer or answers off contract is not asked for again. Everything that goes wrong is null.
 */
export function createAdditions(access: Access): Pick<IacClient, Addition | 'output'> {
  const gone = new Set<Addition>()
  let pausedUntil = 0
  let announced: ReadonlySet<string> | null = null
  const ask = async <S extends v.GenericSchema>(
    kind: Addition,
    body: object,
    schema: S,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<S> | null> => {
    if (gone.has(kind) || performance.now() < pausedUntil) return null
    try {
      announced ??= await announcement(access, signal)
      if (!announced.has(kind)) return null
      const text = await run(access, kind, body, signal)
      const parsed = text === null ? null : v.safeParse(schema, JSON.parse(text))
      if (parsed?.success === false) throw new OffContract('an answer of an unknown form')
      return parsed?.output ?? null
    } catch (error) {
      if (signal?.aborted) return null
      access.log.warn('an optional job of the iac service gave nothing', { kind, error })
      if (error instanceof OffContract || error instanceof SyntaxError) gone.add(kind)
      else pausedUntil = performance.now() + PAUSE_MS
      return null
    }
  }
  return {
    schema: (request, signal) => ask('schema', request, SchemaPartsSchema, signal),
    diagnostics: (workspacePath, signal) =>
      ask('diagnostics', { workspace_path: workspacePath }, DiagnosticsSchema, signal),
    output: async (jobId, signal) => {
      try {
        announced ??= await announcement(access, signal)
        return announced.has('output') ? await liveOutput(access, jobId, signal) : null
      } catch (error) {
        if (!signal?.aborted)
          access.log.info('the output of a running iac job could not be read', { job_id: jobId, error })
        return null
      }
    },
  }
}

async function liveOutput(
  { call }: Access,
  jobId: string,
  signal?: AbortSignal,
): Promise<{ stdout: string; stderr: string } | null> {
  const response = await call(`/v1/jobs/${jobId}/output`, {
    timeout_ms: ANNOUNCEMENT_LIMIT_MS,
    max_bytes: 1024 * 1024,
    ...(signal && { signal }),
  })
  const parsed = response.status === 200 ? v.safeParse(LiveOutputSchema, lenientJson(response)) : null
  return parsed?.success ? { stdout: parsed.output.stdout, stderr: parsed.output.stderr } : null
}

/** Not offered, or not what the contract says: it will not change while this process runs. */
class OffContract extends Error {}

async function announcement({ call, config }: Access, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const timeoutMs = Math.min(config.timeout * 1000, ANNOUNCEMENT_LIMIT_MS)
  const response = await call('/v1/engine', { timeout_ms: timeoutMs, ...(signal && { signal }) })
  if (mayPass(response)) throw new Error(`HTTP ${response.status}`)
  const parsed = response.status === 200 ? v.safeParse(AnnouncementSchema, lenientJson(response)) : null
  return new Set(parsed?.success ? parsed.output.additions : [])
}

/** Standard output of the job; null when the engine could not answer, which another workspace may change. */
async function run(
  { call, config, log }: Access,
  kind: Addition,
  body: object,
  signal?: AbortSignal,
): Promise<string | null> {
  const jobTimeout = Math.min(config.job_timeout, LIMITS_S[kind])
  const own = signal ? { signal } : {}
  const timeoutMs = Math.min(config.timeout, jobTimeout) * 1000
  const response = await call(`/v1/${kind}`, { method: 'POST', json: body, timeout_ms: timeoutMs, ...own })
  const submitted = response.status === 202 ? v.safeParse(SubmittedSchema, lenientJson(response)) : null
  if (!submitted?.success) {
    if (mayPass(response)) throw new Error(`HTTP ${response.status}`)
    throw new OffContract(`HTTP ${response.status}`)
  }
  const limited = { ...config, job_timeout: jobTimeout, job_poll_interval: Math.min(config.job_poll_interval, POLL_S) }
  const result = await waitForJob({ config: limited, log, call }, submitted.output.job_id, own)
  const expected = kind === 'diagnostics' ? [0, 1] : [0]
  return expected.includes(result.exit_code) && result.stdout !== '' ? result.stdout : null
}

const mayPass = ({ status }: OutboundResponse) => status === 429 || (status >= 500 && status !== 501)

function lenientJson(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch {
    return undefined
  }
}

const names = v.optional(v.array(v.string()), [])
const schemas = v.optional(v.record(v.string(), v.unknown()), {})

/** `stdout` of a `schema` job. The schemas themselves are read leniently where they are shown. */
const SchemaPartsSchema = v.object({
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
const AnnouncementSchema = v.object({ additions: v.array(v.string()) })

/** The end of what a job has written so far. */
const LiveOutputSchema = v.object({ stdout: v.string(), stderr: v.string() })
