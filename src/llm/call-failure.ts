import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import { OutboundError, retryAfter } from '../base/http.ts'

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
export function toCallFailure(error: unknown, timeout: AbortSignal, timeout_s: number, caller?: AbortSignal): Error {
  if (error instanceof CallFailure) return error
  if (error instanceof APIConnectionError && error.cause instanceof CallFailure) return error.cause
  if (caller?.aborted) return new OutboundError('aborted', 'the call was cancelled', { cause: error })
  if (timeout.aborted || error instanceof APIConnectionTimeoutError)
    return new CallFailure(`no answer within ${timeout_s} s`, 502, { retryable: true, cause: error })
  if (error instanceof APIError && typeof error.status === 'number') return fromStatus(error, error.status)
  if (error instanceof SyntaxError)
    return new CallFailure('the answer is not JSON', 502, { retryable: true, cause: error })
  return new CallFailure('the connection failed', 502, { retryable: true, cause: error })
}

function fromStatus(error: APIError, status: number): CallFailure {
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
