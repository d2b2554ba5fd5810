import { APIConnectionError, APIConnectionTimeoutError } from 'openai'
import { delay, OutboundError } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import type { Deployment } from './deployments.ts'
import { CallFailure, inferenceError, redact } from './failure.ts'
import { learnUnsupported } from './quirks.ts'
import type { Route } from './router.ts'

const ATTEMPTS = 4
/** The longest wait between two attempts; a longer `Retry-After` is cut to this. */
const MAX_WAIT_MS = 300_000

export interface CallOptions<Answer> {
  /** Chooses the deployment of each attempt, so that all entries of one model name share the four attempts. */
  route: Route
  path: string
  body: (deployment: Deployment) => object
  parse: (answer: unknown, deployment: Deployment) => Answer
  timeoutS: number
  backoffMs: number
  log: Logger
  signal?: AbortSignal
}

/**
 * Calls a model, with at most four attempts that each have the whole timeout. If a provider requests a wait, the next
 * attempt on it waits that long; otherwise the waits double. With `backoffMs` at its default of 1000 the waits are 1, 2
 * and 4 s. Throws `PlatformError` with code `InferenceCallAPIError`; `OutboundError` of kind `aborted`.
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
      if (deployment === failed && !error.again_here)
        throw inferenceError(model, error.message, error.status, secrets, error.cause)
      const backoffMs = Math.min(options.backoffMs * 2 ** (attempt - 1), MAX_WAIT_MS)
      // Another entry need not wait for this one: it is called at once, or as soon as its own wait is over.
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

/** Posts a request and parses the answer. Repeating it without a refused parameter does not count as an attempt. */
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

/**
 * Converts an error of the `openai` library to a `CallFailure`, or to an `OutboundError` of kind `aborted` when the
 * caller aborted.
 * @param timeout the signal that limits this attempt
 */
function toCallFailure(error: unknown, timeout: AbortSignal, timeoutS: number, caller?: AbortSignal): Error {
  if (error instanceof APIConnectionError && error.cause instanceof CallFailure) return error.cause
  if (caller?.aborted) return new OutboundError('aborted', 'the call was cancelled', { cause: error })
  const failure = (reason: string) => new CallFailure(reason, 502, { retryable: true, cause: error })
  if (timeout.aborted || error instanceof APIConnectionTimeoutError) return failure(`no answer within ${timeoutS} s`)
  return failure(error instanceof SyntaxError ? 'the answer is not JSON' : 'the connection failed')
}
