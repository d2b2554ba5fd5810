import * as v from 'valibot'
import { delay, type OutboundResponse } from '../../base/http.ts'
import { parseExactly } from '../../base/json.ts'
import { waitUnlessAborted } from '../../base/time.ts'
import { unexpectedAnswer } from '../ask.ts'
import {
  AnnouncementSchema,
  CancelledSchema,
  DiagnosticsSchema,
  FollowedOutputSchema,
  FormattedSchema,
  type IacClient,
  type IacJobKind,
  LiveOutputSchema,
  ProgramFindingsSchema,
  readBody,
  SchemaPartsSchema,
  SubmittedSchema,
} from './contract.ts'
import { type IacAccess, waitForJob } from './wait-for-job.ts'

type OptionalJob = 'schema' | 'diagnostics' | 'fmt' | 'programs_only'

/** Seconds that a round waits for an optional job before it continues without the result. */
const LIMITS_S: Record<OptionalJob, number> = { schema: 30, diagnostics: 20, fmt: 20, programs_only: 30 }
const SHORT_LIMIT_MS = 5_000
const POLL_S = 1
/** Pause of optional jobs after a fault that may be temporary. */
const PAUSE_MS = 10 * 60_000
/** Maximum age of the announcement: after a restart the service may be another version. */
const ANNOUNCED_MS = 60_000
/** Pauses before the second and the third attempt to send a cancellation. */
const CANCEL_PAUSES_MS = [250, 1_000]
/** Two pieces of 256 KiB, of which each byte may be JSON-escaped. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024

export type Offers = (addition: string, signal?: AbortSignal) => Promise<boolean>

/** Creates the client of the optional parts of the iac contract. No method throws: faults are logged. */
export function createOptionalCalls(access: IacAccess, offers: Offers) {
  return { ...createOptionalJobs(access, offers), ...createLiveJobs(access, offers) }
}

/** Reads the service's announcement at `GET /v1/engine`. Throws when it does not answer. */
export function createOffers({ call, config }: IacAccess): Offers {
  let announced: Promise<ReadonlySet<string>> | null = null
  let announcedUntil = 0
  const read = async () => {
    const response = await call('/v1/engine', { timeoutMs: Math.min(config.timeout * 1000, SHORT_LIMIT_MS) })
    if (isTransient(response)) throw unexpectedAnswer('iac', `HTTP ${response.status} to the question for its engine`)
    return new Set(readBody(AnnouncementSchema, response)?.additions)
  }
  return async (addition, signal) => {
    if (announced === null || performance.now() > announcedUntil) {
      announcedUntil = performance.now() + ANNOUNCED_MS
      // Not bound to one caller's signal, because others wait for the same response.
      announced = read()
      announced.catch(() => {
        announced = null
      })
    }
    return (await (signal ? waitUnlessAborted(announced, signal) : announced)).has(addition)
  }
}

/**
 * Leaves out the fields that the service does not offer to take: what the worker knows about the state, the name of the
 * repository, and that findings are wanted as data. Errors: those of `offers` for the state, without which a job may
 * work on another one; the other fields are left out while the announcement cannot be read.
 */
export async function withoutUnknown(
  kind: IacJobKind | OptionalJob,
  body: object,
  offers: Offers,
  signal?: AbortSignal,
): Promise<object> {
  const left = new Set<string>()
  if ('state' in body && !(await offers('state', signal))) left.add('state')
  for (const [field, addition] of [
    ['repository', 'repository'],
    ['json', `${kind}_json`],
  ] as const)
    if (field in body && !(await offers(addition, signal).catch(() => false))) left.add(field)
  return left.size === 0 ? body : Object.fromEntries(Object.entries(body).filter(([field]) => !left.has(field)))
}

/**
 * Creates the client of the optional jobs of the iac contract. A job is submitted only when the service announces its
 * kind. A kind that is refused, or whose result breaks the contract, is not used again in this process. Faults are
 * logged and return null.
 */
function createOptionalJobs(
  access: IacAccess,
  offers: Offers,
): Required<Pick<IacClient, 'schema' | 'diagnostics' | 'fmt' | 'programs'>> {
  const unavailable = new Set<OptionalJob>()
  let pausedUntil = 0
  const ask = async <S extends v.GenericSchema>(
    kind: OptionalJob,
    body: object,
    schema: S,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<S> | null> => {
    if (unavailable.has(kind) || performance.now() < pausedUntil) return null
    try {
      if (!(await offers(kind, signal))) {
        access.log.info('the iac service does not offer an optional job', { kind })
        unavailable.add(kind)
        return null
      }
      const text = await runJob(access, kind, await withoutUnknown(kind, body, offers, signal), signal)
      const parsed = text === null ? null : v.safeParse(schema, parseExactly(text))
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
    diagnostics: (root, signal) => ask('diagnostics', root, DiagnosticsSchema, signal),
    programs: (root, signal) => ask('programs_only', { ...root, programs_only: true }, ProgramFindingsSchema, signal),
    fmt: async (workspacePath, texts, signal) => {
      const formatted = await ask('fmt', { workspace_path: workspacePath, texts }, FormattedSchema, signal)
      if (formatted === null || formatted.length === texts.length) return formatted
      access.log.warn('the iac service answered another number of formatted texts')
      unavailable.add('fmt')
      return null
    },
  }
}

/** The service does not offer the job, or its result breaks the contract. Retrying would not help. */
class OffContract extends Error {}

/** Returns the standard output of the job; null when the engine failed, which may depend on the workspace. */
async function runJob(
  { call, config, log }: IacAccess,
  kind: OptionalJob,
  body: object,
  signal?: AbortSignal,
): Promise<string | null> {
  const jobTimeout = Math.min(config.job_timeout, LIMITS_S[kind])
  const timeoutMs = Math.min(config.timeout, jobTimeout) * 1000
  const isDiagnosis = kind === 'diagnostics' || kind === 'programs_only'
  const response = await call(`/v1/${isDiagnosis ? 'diagnostics' : kind}`, {
    method: 'POST',
    json: body,
    timeoutMs,
    signal,
  })
  const submitted = readBody(SubmittedSchema, response, 202)
  if (submitted === null) {
    if (isTransient(response)) throw new Error(`HTTP ${response.status}`)
    throw new OffContract(`HTTP ${response.status}`)
  }
  const limited = { ...config, job_timeout: jobTimeout, job_poll_interval: Math.min(config.job_poll_interval, POLL_S) }
  const result = await waitForJob({ config: limited, log, call }, submitted.job_id, { signal })
  const expected = isDiagnosis ? [0, 1] : [0]
  return expected.includes(result.exit_code) && result.stdout !== '' ? result.stdout : null
}

/** True if a later attempt may succeed. */
const isTransient = ({ status }: OutboundResponse) => status === 429 || (status >= 500 && status !== 501)

/** Creates the client for running jobs. Faults are logged, and nothing is thrown. */
function createLiveJobs(
  { call, config, log }: IacAccess,
  offers: Offers,
): Required<Pick<IacClient, 'cancel' | 'output' | 'outputFrom'>> {
  const cancelOnce = async (jobId: string, signal: AbortSignal | undefined): Promise<boolean> => {
    if (!(await offers('cancel'))) return false
    const timeoutMs = Math.min(config.timeout * 1000, SHORT_LIMIT_MS)
    const response = await call(`/v1/jobs/${jobId}`, { method: 'DELETE', timeoutMs, signal })
    if (isTransient(response)) throw new Error(`HTTP ${response.status}`)
    return readBody(CancelledSchema, response, 202) !== null
  }
  return {
    cancel: async (jobId, signal) => {
      for (const pause of [...CANCEL_PAUSES_MS, null]) {
        try {
          return await cancelOnce(jobId, signal)
        } catch (error) {
          if (signal?.aborted) return false
          log.warn('an iac job could not be cancelled yet', { job_id: jobId, error })
          if (pause !== null) await delay(pause, signal).catch(() => undefined)
        }
      }
      return false
    },
    output: async (jobId, signal) => {
      try {
        if (!(await offers('output', signal))) return null
        const limits = { timeoutMs: SHORT_LIMIT_MS, maxBytes: 1024 * 1024, signal }
        return readBody(LiveOutputSchema, await call(`/v1/jobs/${jobId}/output`, limits))
      } catch (error) {
        if (!signal?.aborted) log.info('the output of a running iac job could not be read', { job_id: jobId, error })
        return null
      }
    },
    outputFrom: async (jobId, from, { waitSeconds, signal }) => {
      try {
        if (!(await offers('output_from'))) return null
        const query = `stdout_from=${from.stdout}&stderr_from=${from.stderr}`
        const response = await call(`/v1/jobs/${jobId}/output?${query}`, {
          headers: { prefer: `wait=${waitSeconds}` },
          timeoutMs: (waitSeconds + config.timeout) * 1000,
          maxBytes: MAX_OUTPUT_BYTES,
          signal,
        })
        return isTransient(response) ? 'missed' : readBody(FollowedOutputSchema, response)
      } catch (error) {
        if (signal?.aborted) return null
        log.info('the output of a running iac job could not be read', { job_id: jobId, error })
        return 'missed'
      }
    },
  }
}
