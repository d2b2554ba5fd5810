import * as v from 'valibot'
import { PlatformError } from '../base/errors.ts'
import { isJsonObject } from '../base/json.ts'
import { InferenceError, type Usage } from './inference.ts'

/** A failed attempt, with the facts that decide about the next one. It never leaves `src/llm`. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  readonly status: number
  readonly retryable: boolean
  /** Milliseconds of the provider's `Retry-After`; null without one. */
  readonly wait_ms: number | null = null
  /** False if the provider says that another attempt on the same deployment does not help. */
  readonly again_here: boolean = true
  /** The parameter that the provider names in its error; null for none. */
  readonly parameter: string | null = null
  /** The tokens of an answer that could not be used; null without one. */
  readonly usage: Usage | null = null
  /** True if the answer had begun to come as a stream. */
  readonly in_stream: boolean = false
  constructor(
    message: string,
    status: number,
    {
      cause,
      ...facts
    }: ErrorOptions &
      Partial<Pick<CallFailure, 'wait_ms' | 'again_here' | 'parameter' | 'usage' | 'in_stream'>> &
      Pick<CallFailure, 'retryable'>,
  ) {
    super(message, { cause })
    this.status = status
    this.retryable = facts.retryable
    Object.assign(this, facts)
  }

  /** Returns this failure with the tokens of what had come of the answer. */
  withUsage(usage: Usage | null): CallFailure {
    return new CallFailure(this.message, this.status, { ...this, cause: this.cause, usage })
  }
}

/** True for a status after which a later attempt may succeed: timeouts, conflicts, limits and server errors. */
export const isRetryable = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500

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
  { cause, usage = null }: { cause?: unknown; usage?: Usage | null } = {},
) => {
  const text = `Inference call to ${model} failed: ${redact(reason, secrets)}`
  return new InferenceError(text, status, usage && { model, usage }, cause)
}

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
    .slice(0, 1000)
}

/** The contents of an error of any provider. */
interface ProviderError {
  message: string
  param: string | null
  /** The HTTP status that the error names or implies; null for none. */
  status: number | null
  /** Milliseconds to wait before another attempt; null for none. */
  wait_ms: number | null
}

/** The HTTP status that an error type implies, for errors in a body without a status. All may be temporary. */
const STATUSES: Record<string, number> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  internal_server_error: 500,
  timeout_error: 504,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
  DEADLINE_EXCEEDED: 504,
}

const word = v.nullish(v.union([v.string(), v.number()]))
const textSchema = v.nullish(v.unknown())
const shape = v.object({
  message: textSchema,
  type: word,
  code: word,
  status: word,
  param: v.nullish(v.string()),
  metadata: v.nullish(v.unknown()),
  details: v.nullish(v.unknown()),
})
/** Google states the wait in the body, as seconds (`46s`, `5.7s`), and not in a header. */
const retryInfo = v.object({ retryDelay: v.pipe(v.string(), v.regex(/^\d+(\.\d+)?s$/)) })

/**
 * Reads an error in any of these forms: `{error: {…}}`, `{error: "…"}`, a list whose first item is one of them,
 * `{message}`, `{Message}` and `{detail}`. Other keys beside `error` are ignored. Null for any other value.
 */
export function readError(value: unknown): ProviderError | null {
  if (Array.isArray(value)) return value.length > 0 ? readError(value[0]) : null
  if (!isJsonObject(value)) return null
  if (typeof value.error === 'string' && value.error !== '')
    return plainError(value.error, statusOf([value.code, value.status]))
  if (isJsonObject(value.error)) return readErrorObject(value.error)
  const message = textOf(value.message) || textOf(value.Message) || textOf(value.detail)
  if (message === '') return null
  return plainError(message, statusOf([value.status_code, value.code, value.type]))
}

const plainError = (message: string, status: number | null = null) => ({ message, param: null, status, wait_ms: null })

function readErrorObject(error: Record<string, unknown>): ProviderError {
  const parsed = v.safeParse(shape, error)
  if (!parsed.success) return plainError(textOf(error.message) || 'unknown error')
  const { message, type, code, status, param, metadata, details } = parsed.output
  const raw = isJsonObject(metadata) ? textOf(metadata.raw) : ''
  const own = textOf(message) || 'unknown error'
  return {
    // A router that only says "provider returned error" has that provider's text in `metadata.raw`.
    message: raw !== '' && /provider returned error/i.test(own) ? `${own}: ${raw}` : own,
    param: param ?? null,
    status: statusOf([code, status, type]),
    wait_ms: waitOf(details),
  }
}

function waitOf(details: unknown): number | null {
  for (const detail of Array.isArray(details) ? details : []) {
    const parsed = v.safeParse(retryInfo, detail)
    if (parsed.success) return Math.ceil(Number.parseFloat(parsed.output.retryDelay) * 1000)
  }
  return null
}

function statusOf(candidates: readonly unknown[]): number | null {
  for (const candidate of candidates) {
    const number = typeof candidate === 'string' || typeof candidate === 'number' ? Number(candidate) : Number.NaN
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number
    if (typeof candidate === 'string' && Object.hasOwn(STATUSES, candidate)) return STATUSES[candidate] ?? null
  }
  return null
}

/** Returns a text unchanged; for a list or an object, its texts joined by semicolons. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value))
    return value
      .map((item) => (isJsonObject(item) ? complaintText(item) : textOf(item)))
      .filter(Boolean)
      .join('; ')
  return isJsonObject(value) ? textOf(value.message ?? value.msg ?? value.detail) : ''
}

function complaintText({ loc, msg, message }: Record<string, unknown>): string {
  const place = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : ''
  const text = textOf(msg ?? message)
  return place && text ? `${place}: ${text}` : text
}
