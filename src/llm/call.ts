import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import { PlatformError } from '../base/errors.ts'
import { delay, OutboundError, retryAfter } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import type { Deployment } from './deployments.ts'
import { learnUnsupported } from './quirks.ts'
import type { Route } from './router.ts'

const ATTEMPTS = 4
/** A longer `Retry-After` is cut to this. */
const MAX_WAIT_MS = 300_000

export interface CallOptions<Answer> {
  /** Asked before each attempt, so that entries of one name share the retries. */
  route: Route
  path: string
  body: (deployment: Deployment) => object
  parse: (answer: unknown, deployment: Deployment) => Answer
  timeoutS: number
  backoff_ms: number
  log: Logger
  signal?: AbortSignal
}

/**
 * One inference: at most four attempts, each with a time budget of its own.
 * Errors: `PlatformError` `InferenceCallAPIError`; `OutboundError` kind `aborted`.
 */
export async function callModel<Answer>(options: CallOptions<Answer>): Promise<Answer> {
  const { log, signal, route } = options
  let deployment = route.next()
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await postSupported(deployment, options)
      route.markWorked(deployment)
      return answer
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      const { model, secrets } = deployment
      const requestedWaitMs = error.wait_ms === null ? null : Math.min(error.wait_ms, MAX_WAIT_MS)
      if (error.retryable) route.markFailed(deployment, requestedWaitMs)
      if (!error.retryable || attempt === ATTEMPTS)
        throw inferenceError(model, error.message, error.status, secrets, error.cause)
      const failed = deployment
      deployment = route.next()
      const backoffMs = Math.min(options.backoff_ms * 2 ** (attempt - 1), MAX_WAIT_MS)
      // Another entry is asked at once, or when it asked to be asked.
      const waitMs = (deployment === failed ? requestedWaitMs : route.remainingWaitMs(deployment)) ?? backoffMs
      log.warn('inference attempt failed', {
        model,
        attempt,
        status: error.status,
        reason: redact(error.message, secrets),
        wait_ms: waitMs,
      })
      await delay(waitMs, signal)
    }
  }
}

/** A refused parameter costs a call, not an attempt: the provider did answer. */
async function postSupported<Answer>(deployment: Deployment, options: CallOptions<Answer>): Promise<Answer> {
  for (;;) {
    const body = options.body(deployment)
    try {
      return options.parse(await post(deployment, body, options), deployment)
    } catch (error) {
      if (!(error instanceof CallFailure) || !learnUnsupported(deployment, error, body)) throw error
      options.log.info('a parameter is left out for this model', {
        model: deployment.model,
        reason: redact(error.message, deployment.secrets),
      })
    }
  }
}

async function post(deployment: Deployment, body: object, options: CallOptions<unknown>): Promise<unknown> {
  const { timeoutS, signal } = options
  const timeout = AbortSignal.timeout(timeoutS * 1000)
  try {
    return await deployment.client.post<unknown>(options.path, {
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
  } catch (error) {
    throw toCallFailure(error, timeout, timeoutS, signal)
  }
}

/** One attempt that failed, with what the retry rule needs to know. Never leaves `src/llm`. */
export class CallFailure extends Error {
  readonly status: number
  readonly retryable: boolean
  /** Asked for by `Retry-After`, in milliseconds. */
  readonly wait_ms: number | null
  /** Name of the parameter that the provider complains about. */
  readonly parameter: string | null
  constructor(
    message: string,
    status: number,
    options: { retryable: boolean; wait_ms?: number | null; parameter?: string | null; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.name = 'CallFailure'
    this.status = status
    this.retryable = options.retryable
    this.wait_ms = options.wait_ms ?? null
    this.parameter = options.parameter ?? null
  }
}

export const isRetryable = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500

/**
 * What the library threw, as a `CallFailure`; `OutboundError` kind `aborted` when the caller gave up.
 * @param timeout the signal of this attempt
 */
function toCallFailure(error: unknown, timeout: AbortSignal, timeoutS: number, caller?: AbortSignal): Error {
  if (error instanceof CallFailure) return error
  if (error instanceof APIConnectionError && error.cause instanceof CallFailure) return error.cause
  if (caller?.aborted) return new OutboundError('aborted', 'the call was cancelled', { cause: error })
  if (timeout.aborted || error instanceof APIConnectionTimeoutError)
    return new CallFailure(`no answer within ${timeoutS} s`, 502, { retryable: true, cause: error })
  if (error instanceof APIError && typeof error.status === 'number') return toStatusFailure(error, error.status)
  if (error instanceof SyntaxError)
    return new CallFailure('the answer is not JSON', 502, { retryable: true, cause: error })
  return new CallFailure('the connection failed', 502, { retryable: true, cause: error })
}

function toStatusFailure(error: APIError, status: number): CallFailure {
  return new CallFailure(messageOf(error, status), status, {
    retryable: isRetryable(status),
    wait_ms: error.headers ? retryAfter(error.headers) : null,
    parameter: error.param ?? null,
    cause: error,
  })
}

/** The provider's own words; a page of a gateway says no more than its status. */
function messageOf(error: APIError, status: number): string {
  const body: unknown = error.error
  if (
    typeof body === 'object' &&
    body !== null &&
    'message' in body &&
    typeof body.message === 'string' &&
    body.message
  )
    return body.message
  const text = error.message.replace(new RegExp(`^${status}\\s*`), '')
  return text === '' || /^\s*</.test(text) || text === 'status code (no body)' ? `HTTP ${status}` : text
}

const MAX_REASON = 1000

/**
 * @param status the provider's, else 502
 * @param secrets literal values that must not show
 */
export const inferenceError = (
  model: string,
  reason: string,
  status: number,
  secrets: readonly string[],
  cause?: unknown,
) =>
  new PlatformError('InferenceCallAPIError', status, `Inference call to ${model} failed: ${redact(reason, secrets)}`, {
    cause,
  })

/** A call that the platform itself composed wrongly. */
export const badInference = (message: string) => new PlatformError('InferenceCallAPIError', 400, message)

/** One line of at most 1000 characters without key material, be it ours or half masked by the provider. */
function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, '***')
  return clean
    .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer ***')
    .replaceAll(/\b(?:sk|pk|rk|gsk|xai|pplx|fw|nvapi)-[\w*.-]*[\w*-]/g, '***')
    .replaceAll(/\b(?:AIza[\w-]{10,}|gsk_\w{8,}|hf_\w{8,}|ya29\.[\w.-]+|(?:AKIA|ASIA)[A-Z0-9]{12,})/g, '***')
    .replaceAll(/[\w-]*\*{4,}[\w*-]*/g, '***')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_REASON)
}
