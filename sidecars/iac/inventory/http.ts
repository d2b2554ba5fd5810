import { STATUS_CODES } from 'node:http'
import * as v from 'valibot'
import {
  delay,
  type Fetch,
  OutboundError,
  type OutboundResponse,
  retryAfter,
  send,
  TRANSIENT_STATUSES,
} from '../../../src/base/http.ts'
import { parseJson } from '../../../src/base/json.ts'
import { checkShape, InventoryError, type InventoryRequest, RefusedError } from './request.ts'

type HeaderFields = Record<string, string>

export interface Question {
  /** The service that is asked, for the text of errors, for example `Azure Resource Graph`. */
  source: string
  url: string | URL
  /** Default GET. Every call must be repeatable. */
  method?: string
  /** A function is called before each attempt, because a signature holds the time. */
  headers?: HeaderFields | (() => HeaderFields | Promise<HeaderFields>)
  body?: string
  /** A JSON body with its content type, in place of `body`. */
  json?: unknown
  request: InventoryRequest
  /** Default: that of the request. */
  fetch?: Fetch
  /** Texts that must not appear in an error, for example a posted secret. Values of credential headers never do. */
  secrets?: readonly string[]
  /** Limit of one attempt including the answer, in milliseconds. Default 60 s. */
  timeoutMs?: number
  /** Further attempts after the first. Default 6. */
  retries?: number
}

const TRANSIENT = [408, ...TRANSIENT_STATUSES]
/** Beginnings of the names of errors that mean too many calls, whatever the status is. */
const THROTTLED = /^(Throttl|TooManyRequests|RequestLimitExceeded|RequestThrottled|SlowDown|RateLimitExceeded)/i

/**
 * Calls a cloud and returns a success (2xx). Retries throttling and transient faults, after `Retry-After` or growing
 * waits. Errors: `RefusedError` for any other answer, `InventoryError` for none.
 */
export async function ask(question: Question): Promise<OutboundResponse> {
  const { request, source, retries = 6 } = question
  for (let attempt = 0; ; attempt++) {
    const headers = typeof question.headers === 'function' ? await question.headers() : (question.headers ?? {})
    const answer = await attemptOnce(question, headers)
    if (answer instanceof OutboundError) {
      if (answer.kind === 'aborted') throw answer
      const unreachable = new InventoryError(`${source} is unreachable: ${reasonOf(answer)}`, { cause: answer })
      // Fewer retries than with a connection: a wrong address stays wrong, a restart takes only seconds.
      if (!isPassing(answer) || attempt >= Math.min(retries, 3)) throw unreachable
      await pause(request, source, attempt, null, unreachable)
      continue
    }
    if (answer.status >= 200 && answer.status < 300) return answer
    const refused = refusalOf(question, headers, answer)
    const transient = TRANSIENT.includes(answer.status) || THROTTLED.test(refused.code)
    if (!transient || attempt >= retries) throw refused
    await pause(request, source, attempt, retryAfter(answer.headers, request.now().getTime()), refused)
  }
}

/** Calls a cloud and returns the parsed JSON of the answer. Errors: those of `ask`. */
export const askJson = async (question: Question): Promise<unknown> => jsonOf(question.source, await ask(question))

/** Returns the parsed JSON of an answer. Errors: `RefusedError`. */
export function jsonOf(source: string, response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch {
    throw new RefusedError(source, response.status, '', 'the answer is not JSON')
  }
}

/** Calls a cloud and checks the form of its JSON. Errors: those of `ask`, `InventoryError` for another form. */
export const askShape = async <Schema extends v.GenericSchema>(
  schema: Schema,
  question: Question,
): Promise<v.InferOutput<Schema>> => checkShape(question.source, schema, await askJson(question))

const attemptOnce = (question: Question, headers: HeaderFields): Promise<OutboundResponse | OutboundError> =>
  send(question.fetch ?? question.request.fetch, {
    url: question.url,
    method: question.method ?? 'GET',
    headers,
    ...(question.json === undefined ? { body: question.body ?? null } : { json: question.json }),
    timeoutMs: question.timeoutMs ?? 60_000,
    maxBytes: 32 * 1024 * 1024,
    signal: question.request.signal,
  }).catch((error: unknown) => {
    if (error instanceof OutboundError) return error
    throw error
  })

async function pause(
  request: InventoryRequest,
  source: string,
  attempt: number,
  asked: number | null,
  why: InventoryError,
) {
  const growing = (request.backoffMs ?? 500) * 2 ** attempt
  // Services that were throttled together must not all retry at the same moment.
  const waitMs = Math.min(asked ?? growing * (0.75 + Math.random() / 2), 60_000)
  request.log.info('inventory call is repeated', { source, reason: why.message, wait_ms: Math.round(waitMs) })
  await delay(waitMs, request.signal)
}

/** Builds the error of an answer and hides credentials in it, because some clouds quote the request. */
function refusalOf({ source, secrets = [] }: Question, headers: HeaderFields, answer: OutboundResponse): RefusedError {
  const hidden = [
    ...secrets,
    ...Object.entries(headers).flatMap(([name, value]) => (CREDENTIAL_HEADER.test(name) ? wordsOf(value) : [])),
  ]
  const text = hidden
    .filter((secret) => secret.length >= 6)
    .reduce((shown, secret) => shown.replaceAll(secret, '(sensitive value)'), answer.text())
  const { status } = answer
  // Redirects are never followed.
  const usual = status < 400 ? 'moved elsewhere' : (STATUS_CODES[status] ?? 'no message')
  return new RefusedError(source, status, codeOf(text, answer.headers), messageOf(text) || usual)
}

const CREDENTIAL_HEADER = /^(authorization|cookie|proxy-authorization)$|token|secret|api-key/i
/** Returns the words of a credential header, without OCI's list of signed headers, which are no secret. */
const wordsOf = (value: string) => [value, ...value.replace(/\bheaders="[^"]*"/, '').split(/[\s,"]+/)]

/** Returns the message, with the system's code such as `ECONNREFUSED` if there is one. */
function reasonOf(error: OutboundError): string {
  const code = systemCode(error)
  return code === '' || code === 'ABORT_ERR' ? error.message : `${error.message} (${code})`
}

/** Reports whether a retry may succeed. A too large answer and an untrusted certificate stay so. */
const isPassing = (error: OutboundError) =>
  error.kind !== 'body' && !/CERT|SIGNATURE|^ERR_(SSL|TLS|OSSL)/.test(systemCode(error))

function systemCode({ cause }: OutboundError): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
  return inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? inner.code : ''
}

export interface Page<Item> {
  items: readonly Item[]
  /** Cursor for the next page; null, undefined or an empty text after the last one. */
  next: string | null | undefined
}

/** Reads all pages of a source; `read` gets null, then the last cursor. Errors: `InventoryError` for more, for a loop. */
export async function readPages<Item>(
  source: string,
  read: (cursor: string | null) => Promise<Page<Item>>,
  maxPages = 200,
): Promise<Item[]> {
  const all: Item[] = []
  const seen = new Set<string>()
  let cursor: string | null = null
  for (let page = 1; ; page++) {
    const { items, next }: Page<Item> = await read(cursor)
    for (const item of items) all.push(item)
    if (!next) return all
    if (page >= maxPages) throw new InventoryError(`${source} has more than ${maxPages} pages of results`)
    if (seen.has(next)) throw new InventoryError(`${source} repeats a page of results`)
    seen.add(next)
    cursor = next
  }
}

const MAX_MESSAGE = 1000
const MESSAGE_KEYS = ['message', 'Message', 'error_description', 'detail', 'errorMessage']
const CODE_KEYS = ['code', 'Code', '__type', 'reason', 'status', 'error']
const WRAPPERS = ['error', 'Error', 'errors', 'details']

/**
 * Reads the message of an error document in JSON (`{message}`, `{error: {message}}`, `{error, error_description}`) or
 * XML (`<Message>`): one line of at most 1000 characters, empty when nothing fits.
 */
export function messageOf(text: string): string {
  const message = search(parseJson(text), MESSAGE_KEYS, true) ?? fromXml(text, 'Message') ?? plainMessage(text)
  const line = message.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line
}

/** Reads the name of the error, such as `AccessDenied`, without namespace, or empty. AWS puts it into a header. */
export function codeOf(text: string, headers: Headers): string {
  const code =
    headers.get('x-amzn-errortype') ?? search(parseJson(text), CODE_KEYS, false) ?? fromXml(text, 'Code') ?? ''
  const name = code.split('#').at(-1)?.split(':')[0] ?? ''
  return /^[A-Za-z0-9_.-]{1,100}$/.test(name) ? name : ''
}

/** Searches nested errors: the inner one has the better message, the outer one the better name. */
function search(value: unknown, keys: readonly string[], innermost: boolean, depth = 0): string | undefined {
  // No cloud nests the error of an answer deeper.
  if (typeof value !== 'object' || value === null || depth > 3) return undefined
  if (Array.isArray(value)) return search(value[0], keys, innermost, depth + 1)
  const own = keys
    .map((key): unknown => Reflect.get(value, key))
    .find((text): text is string => typeof text === 'string' && text.trim() !== '')
  if (own !== undefined && !innermost) return own
  for (const key of WRAPPERS) {
    const inner: unknown = Reflect.get(value, key)
    const text = typeof inner === 'object' ? search(inner, keys, innermost, depth + 1) : undefined
    if (text !== undefined) return text
  }
  return own
}

const fromXml = (text: string, element: string) =>
  new RegExp(`<${element}>([^<]+)</${element}>`).exec(text)?.[1]?.trim()

/** Returns a short text that is neither a page nor a document, else empty. */
const plainMessage = (text: string) => (/^\s*[<{[]/.test(text) || text.length > MAX_MESSAGE ? '' : text)

export interface Expiring<Value> {
  value: Value
  /** Milliseconds since 1970. */
  expiresAt: number
}

export type AccessToken = Expiring<string>
export type ObtainToken = () => Promise<AccessToken>

/** Keeps a token in memory for one discovery, and renews it five minutes before it expires. */
export function keepToken<Value>(
  request: InventoryRequest,
  obtain: () => Promise<Expiring<Value>>,
): () => Promise<Value> {
  let held: Expiring<Value> | null = null
  return async () => {
    if (held === null || held.expiresAt - 5 * 60_000 <= request.now().getTime()) held = await obtain()
    return held.value
  }
}

/** A text that is valid in an `Authorization` header. */
export const tokenText = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/))

/** The answer of a token endpoint (RFC 6749, section 5.1). Some write the lifetime, in seconds, as text. */
export const tokenAnswer = v.object({
  access_token: tokenText,
  expires_in: v.optional(v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))])),
})

/** Returns the token of an answer, which lives for an hour unless the answer says how long. */
export const asAccessToken = (
  { access_token: value, expires_in = 3600 }: v.InferOutput<typeof tokenAnswer>,
  request: InventoryRequest,
): AccessToken => ({ value, expiresAt: request.now().getTime() + expires_in * 1000 })
