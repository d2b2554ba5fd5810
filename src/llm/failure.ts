import { PlatformError } from '../base/errors.ts'

/** A failed attempt, with the facts that decide about the next one. It never leaves `src/llm`. */
export class CallFailure extends Error {
  readonly status: number
  readonly retryable: boolean
  /** Milliseconds of the provider's `Retry-After`; null without one. */
  readonly wait_ms: number | null
  /** False if the provider says that another attempt on the same deployment does not help. */
  readonly again_here: boolean
  /** The parameter that the provider names in its error; null for none. */
  readonly parameter: string | null
  constructor(
    message: string,
    status: number,
    options: {
      retryable: boolean
      wait_ms?: number | null
      again_here?: boolean
      parameter?: string | null
      cause?: unknown
    },
  ) {
    super(message, { cause: options.cause })
    this.name = 'CallFailure'
    this.status = status
    this.retryable = options.retryable
    this.wait_ms = options.wait_ms ?? null
    this.again_here = options.again_here ?? true
    this.parameter = options.parameter ?? null
  }
}

/** True for a status after which a later attempt may succeed: timeouts, conflicts, limits and server errors. */
export const isRetryable = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500

const MAX_REASON = 1000

/**
 * Makes the error of a failed inference for callers outside of `src/llm`.
 * @param status the status of the provider, or 502 without a response
 * @param secrets values that must not appear in the text
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

/** Makes the error of a request that the platform itself composed wrongly. */
export const badInference = (message: string) => new PlatformError('InferenceCallAPIError', 400, message)

/** Returns the text as one line of at most 1000 characters, without our keys and anything that looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
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
