import { delay, type Fetch, OutboundError, type OutboundResponse, retryAfter, send } from '../../../src/base/http.ts'
import { codeOf, messageOf } from './refusal.ts'
import { InventoryError, type InventoryRequest, RefusedError } from './types.ts'

type HeaderFields = Record<string, string>

export interface Question {
  /** Stands in errors, for example `Azure Resource Graph`. */
  source: string
  url: string | URL
  /** Default GET. Every call must be one that may be repeated. */
  method?: string
  /** A function is asked before each attempt: signatures carry a time. */
  headers?: HeaderFields | (() => HeaderFields | Promise<HeaderFields>)
  body?: string
  /** In place of `body`: serialised, with its content type. */
  json?: unknown
  request: InventoryRequest
  /** Default: that of the request. */
  fetch?: Fetch
  /** What must not stand in an error besides the values of credential headers, for example a posted secret. */
  secrets?: readonly string[]
  /** Milliseconds for one attempt, answer included. Default 60 s. */
  timeoutMs?: number
  /** Further attempts after the first. Default 6. */
  retries?: number
}

const TIMEOUT_MS = 60_000
const MAX_BYTES = 32 * 1024 * 1024
const RETRIES = 6
/** A wrong address does not get better; a restarted server does so within seconds. */
const NETWORK_RETRIES = 3
const BACKOFF_MS = 500
const MAX_WAIT_MS = 60_000
const TRANSIENT = [408, 429, 500, 502, 503, 504]
/** Refused for the number of calls, whatever the status; without suffixes such as `Exception`. */
const THROTTLED = /^(Throttl|TooManyRequests|RequestLimitExceeded|RequestThrottled|SlowDown|RateLimitExceeded)/i

/**
 * One call to a cloud; answers with a success (2xx) only. Throttling, faults of the server and of the network are
 * met by repeating with growing waits, `Retry-After` going first, while the job's time lasts.
 * Errors: `RefusedError` for any other answer, `InventoryError` when there is none.
 */
export async function ask(question: Question): Promise<OutboundResponse> {
  const { request, source } = question
  for (let attempt = 0; ; attempt++) {
    const headers = typeof question.headers === 'function' ? await question.headers() : (question.headers ?? {})
    const answer = await attemptOnce(question, headers)
    if (answer instanceof OutboundError) {
      if (answer.kind === 'aborted') throw answer
      const unreachable = new InventoryError(`${source} is unreachable: ${reasonOf(answer)}`, { cause: answer })
      if (!isPassing(answer) || attempt >= Math.min(question.retries ?? RETRIES, NETWORK_RETRIES)) throw unreachable
      await pause(request, source, attempt, null, unreachable)
      continue
    }
    if (answer.status >= 200 && answer.status < 300) return answer
    const refused = refusalOf(question, headers, answer)
    const transient = TRANSIENT.includes(answer.status) || THROTTLED.test(refused.code)
    if (!transient || attempt >= (question.retries ?? RETRIES)) throw refused
    await pause(request, source, attempt, retryAfter(answer.headers, request.now().getTime()), refused)
  }
}

/** The same for an answer that has to be JSON. */
export async function askJson(question: Question): Promise<unknown> {
  const response = await ask(question)
  try {
    return response.json()
  } catch {
    throw new RefusedError(question.source, response.status, '', 'the answer is not JSON')
  }
}

async function attemptOnce(question: Question, headers: HeaderFields): Promise<OutboundResponse | OutboundError> {
  try {
    return await send(question.fetch ?? question.request.fetch, {
      url: question.url,
      method: question.method ?? 'GET',
      headers,
      ...(question.json === undefined ? { body: question.body ?? null } : { json: question.json }),
      timeout_ms: question.timeoutMs ?? TIMEOUT_MS,
      max_bytes: MAX_BYTES,
      signal: question.request.signal,
    })
  } catch (error) {
    if (error instanceof OutboundError) return error
    throw error
  }
}

async function pause(
  request: InventoryRequest,
  source: string,
  attempt: number,
  asked: number | null,
  why: InventoryError,
) {
  const growing = (request.backoffMs ?? BACKOFF_MS) * 2 ** attempt
  // Several services that were refused together shall not come back together.
  const waitMs = Math.min(asked ?? growing * (0.75 + Math.random() / 2), MAX_WAIT_MS)
  request.log.info('inventory call is repeated', { source, reason: why.message, wait_ms: Math.round(waitMs) })
  await delay(waitMs, request.signal)
}

/** Some clouds echo the request, credentials included. */
function refusalOf({ source, secrets = [] }: Question, headers: HeaderFields, answer: OutboundResponse): RefusedError {
  const hidden = [
    ...secrets,
    ...Object.entries(headers).flatMap(([name, value]) => (CREDENTIAL_HEADER.test(name) ? wordsOf(value) : [])),
  ]
  const text = hidden
    .filter((secret) => secret.length >= 6)
    .reduce((shown, secret) => shown.replaceAll(secret, '(sensitive value)'), answer.text())
  return new RefusedError(
    source,
    answer.status,
    codeOf(text, answer.headers),
    messageOf(text) || STATUS_TEXTS[answer.status] || 'no message',
  )
}

const CREDENTIAL_HEADER = /^(authorization|cookie|proxy-authorization)$|token|secret|api-key/i
/** The names of signed headers, as OCI lists them, are no secret and stand in many messages. */
const wordsOf = (value: string) => [value, ...value.replace(/\bheaders="[^"]*"/, '').split(/[\s,"]+/)]
const STATUS_TEXTS: Record<number, string> = {
  301: 'moved elsewhere',
  302: 'moved elsewhere',
  307: 'moved elsewhere',
  308: 'moved elsewhere',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** With the system's code, such as `ECONNREFUSED`, where there is one. */
function reasonOf(error: OutboundError): string {
  const code = systemCode(error)
  return code === '' || code === 'ABORT_ERR' ? error.message : `${error.message} (${code})`
}

/** Answers that are too large, and certificates that are not trusted, stay so. */
const isPassing = (error: OutboundError) =>
  error.kind !== 'body' && !/CERT|SIGNATURE|^ERR_(SSL|TLS|OSSL)/.test(systemCode(error))

function systemCode({ cause }: OutboundError): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
  return inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? inner.code : ''
}
