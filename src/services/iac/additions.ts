import * as v from 'valibot'
import type { OutboundResponse } from '../../base/http.ts'
import {
  AnnouncementSchema,
  DiagnosticsSchema,
  FormattedSchema,
  LiveOutputSchema,
  parseJsonBody,
  SchemaPartsSchema,
  SubmittedSchema,
} from './answers.ts'
import type { IacClient } from './types.ts'
import { type IacAccess, waitForJob } from './wait-for-job.ts'

type Addition = 'schema' | 'diagnostics' | 'fmt'

/** How long a round waits for an optional job. After that it goes on without the answer. */
const LIMITS_S: Record<Addition, number> = { schema: 30, diagnostics: 20, fmt: 20 }
const ANNOUNCEMENT_LIMIT_MS = 5_000
const POLL_S = 1
/** After a fault that may be temporary, no optional job is submitted for this long. */
const PAUSE_MS = 10 * 60_000

/**
 * Client of the optional jobs of the iac contract. A job is submitted only when the service announces its kind. A
 * kind that turns out not to be offered, or whose answer breaks the contract, is not asked for again in this process.
 * Whatever goes wrong is logged and answered with null.
 */
export function createAdditions(access: IacAccess): Pick<IacClient, Addition | 'output'> {
  const unavailable = new Set<Addition>()
  let pausedUntil = 0
  let announced: ReadonlySet<string> | null = null
  const ask = async <S extends v.GenericSchema>(
    kind: Addition,
    body: object,
    schema: S,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<S> | null> => {
    if (unavailable.has(kind) || performance.now() < pausedUntil) return null
    try {
      announced ??= await readAnnouncement(access, signal)
      if (!announced.has(kind)) {
        access.log.info('the iac service does not offer an optional job', { kind })
        unavailable.add(kind)
        return null
      }
      const text = await runJob(access, kind, body, signal)
      const parsed = text === null ? null : v.safeParse(schema, JSON.parse(text))
      if (parsed?.success === false) throw new OffContract('an answer of an unknown form')
      return parsed?.output ?? null
    } catch (error) {
      if (signal?.aborted) return null
      access.log.warn('an optional job of the iac service gave nothing', { kind, error })
      if (error instanceof OffContract || error instanceof SyntaxError) unavailable.add(kind)
      else pausedUntil = performance.now() + PAUSE_MS
      return null
    }
  }
  return {
    schema: (request, signal) => ask('schema', request, SchemaPartsSchema, signal),
    diagnostics: (workspacePath, signal) =>
      ask('diagnostics', { workspace_path: workspacePath }, DiagnosticsSchema, signal),
    fmt: async (workspacePath, texts, signal) => {
      const formatted = await ask('fmt', { workspace_path: workspacePath, texts }, FormattedSchema, signal)
      if (formatted === null || formatted.length === texts.length) return formatted
      access.log.warn('the iac service answered another number of formatted texts')
      unavailable.add('fmt')
      return null
    },
    output: async (jobId, signal) => {
      try {
        announced ??= await readAnnouncement(access, signal)
        return announced.has('output') ? await readLiveOutput(access, jobId, signal) : null
      } catch (error) {
        if (!signal?.aborted)
          access.log.info('the output of a running iac job could not be read', { job_id: jobId, error })
        return null
      }
    },
  }
}

async function readLiveOutput(
  { call }: IacAccess,
  jobId: string,
  signal?: AbortSignal,
): Promise<{ stdout: string; stderr: string } | null> {
  const response = await call(`/v1/jobs/${jobId}/output`, {
    timeoutMs: ANNOUNCEMENT_LIMIT_MS,
    maxBytes: 1024 * 1024,
    ...(signal && { signal }),
  })
  const parsed = response.status === 200 ? v.safeParse(LiveOutputSchema, parseJsonBody(response)) : null
  return parsed?.success ? { stdout: parsed.output.stdout, stderr: parsed.output.stderr } : null
}

/** The service does not offer the job, or its answer breaks the contract. Asking again would not help. */
class OffContract extends Error {}

/** Reads which optional things the service offers; none when it announces nothing. Errors: when it does not answer. */
export async function readAnnouncement(
  { call, config }: IacAccess,
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const timeoutMs = Math.min(config.timeout * 1000, ANNOUNCEMENT_LIMIT_MS)
  const response = await call('/v1/engine', { timeoutMs: timeoutMs, ...(signal && { signal }) })
  if (isTransient(response)) throw new Error(`HTTP ${response.status}`)
  const parsed = response.status === 200 ? v.safeParse(AnnouncementSchema, parseJsonBody(response)) : null
  return new Set(parsed?.success ? parsed.output.additions : [])
}

/** Standard output of the job; null when the engine failed, which may be different for another workspace. */
async function runJob(
  { call, config, log }: IacAccess,
  kind: Addition,
  body: object,
  signal?: AbortSignal,
): Promise<string | null> {
  const jobTimeout = Math.min(config.job_timeout, LIMITS_S[kind])
  const own = signal ? { signal } : {}
  const timeoutMs = Math.min(config.timeout, jobTimeout) * 1000
  const response = await call(`/v1/${kind}`, { method: 'POST', json: body, timeoutMs: timeoutMs, ...own })
  const submitted = response.status === 202 ? v.safeParse(SubmittedSchema, parseJsonBody(response)) : null
  if (!submitted?.success) {
    if (isTransient(response)) throw new Error(`HTTP ${response.status}`)
    throw new OffContract(`HTTP ${response.status}`)
  }
  const limited = { ...config, job_timeout: jobTimeout, job_poll_interval: Math.min(config.job_poll_interval, POLL_S) }
  const result = await waitForJob({ config: limited, log, call }, submitted.output.job_id, own)
  const expected = kind === 'diagnostics' ? [0, 1] : [0]
  return expected.includes(result.exit_code) && result.stdout !== '' ? result.stdout : null
}

/** Whether a later attempt may succeed. */
export const isTransient = ({ status }: OutboundResponse) => status === 429 || (status >= 500 && status !== 501)
