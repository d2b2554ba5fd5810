import { delay } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { CallFailure, toCallFailure } from './call-failure.ts'
import type { Deployment } from './deployments.ts'
import { inferenceError, redact } from './errors.ts'
import type { Route } from './router.ts'
import { learnUnsupported } from './unsupported.ts'

const ATTEMPTS = 4
/** A longer `Retry-After` is cut to this. */
const MAX_WAIT_MS = 300_000

export interface CallOptions<Answer> {
  /** Asked before each attempt, so that entries of one name share the retries. */
  route: Route
  path: string
  body: (deployment: Deployment) => object
  parse: (answer: unknown, deployment: Deployment) => Answer
  timeout_s: number
  backoff_ms: number
  log: Logger
  signal?: AbortSignal
}

/**
 * One inference: at most four attempts, each with a time budget of its own.
 * Errors: `PlatformError` `InferenceCallAPIError`; `OutboundError` kind `aborted`.
 */
export async function call<Answer>(options: CallOptions<Answer>): Promise<Answer> {
  const { log, signal, route } = options
  let deployment = route.next()
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await withoutUnsupported(deployment, options)
      route.worked(deployment)
      return answer
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      const { model, secrets } = deployment
      const asked_ms = error.wait_ms === null ? null : Math.min(error.wait_ms, MAX_WAIT_MS)
      if (error.retryable) route.failed(deployment, asked_ms)
      if (!error.retryable || attempt === ATTEMPTS)
        throw inferenceError(model, error.message, error.status, secrets, error.cause)
      const failed = deployment
      deployment = route.next()
      const backoff_ms = Math.min(options.backoff_ms * 2 ** (attempt - 1), MAX_WAIT_MS)
      // Another entry is asked at once, or when it asked to be asked.
      const wait_ms = (deployment === failed ? asked_ms : route.wait(deployment)) ?? backoff_ms
      log.warn('inference attempt failed', {
        model,
        attempt,
        status: error.status,
        reason: redact(error.message, secrets),
        wait_ms,
      })
      await delay(wait_ms, signal)
    }
  }
}

/** A refused parameter costs a call, not an attempt: the provider did answer. */
async function withoutUnsupported<Answer>(deployment: Deployment, options: CallOptions<Answer>): Promise<Answer> {
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
  const { timeout_s, signal } = options
  const timeout = AbortSignal.timeout(timeout_s * 1000)
  try {
    return await deployment.client.post<unknown>(options.path, {
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
  } catch (error) {
    throw toCallFailure(error, timeout, timeout_s, signal)
  }
}
