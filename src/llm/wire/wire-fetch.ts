import { type Fetch, readStream, retryAfter } from '../../base/http.ts'
import { parseJson } from '../../base/json.ts'
import { CallFailure, isRetryable, readError } from '../failure.ts'
import { readEvents } from './event-lines.ts'
import { isStream, NO_WATCH, readStreamed, type Watch } from './read-stream.ts'
import { assemble, type ChatRequest, type Wire } from './wire.ts'

/** Makes the authentication headers of each request: tokens expire, and signatures depend on the body. */
export type Authorize = (request: {
  url: string
  body: string
  signal?: AbortSignal
}) => Promise<Record<string, string>>

export interface WireOptions {
  fetch: Fetch
  wire: Wire
  /** The URL before the path of a translated request. */
  base_url: string
  /** Default: the bearer key of the library. */
  authorize?: Authorize
  /** Changes the address of a request that is not translated. */
  address?: (url: URL) => URL
  /** Largest accepted answer in bytes; default 32 MiB. */
  maxBytes?: number
}

/** The options of a request. `watch` follows the answer if it comes as a stream. */
export interface WatchedInit extends RequestInit {
  watch?: Watch
}

/** Maximum continuations of a paused turn. */
const MAX_RESUMES = 4

/**
 * Creates a `fetch` for the `openai` library that uses another wire form with the provider. A request is translated;
 * its answer is read to the end, decompressed, assembled if it is a stream, and translated back. Throws `CallFailure`
 * for error statuses, answers that are too large and redirects to another origin.
 */
export function createWireFetch(options: WireOptions) {
  return async (input: Parameters<Fetch>[0], init?: WatchedInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input)
    const text = typeof init?.body === 'string' ? init.body : ''
    const request = url.pathname.endsWith('/chat/completions')
      ? options.wire.encode(JSON.parse(text) as ChatRequest)
      : null
    const address = request ? `${options.base_url}${request.path}` : (options.address?.(url) ?? url).href
    let body: object | null = request?.body ?? null
    for (let turn = 0; ; turn++) {
      const sent = body ? JSON.stringify(body) : text
      const answer = await exchange(options, address, { ...init, body: sent }, request && { ...request.headers })
      const next =
        answer.value !== undefined && body && turn < MAX_RESUMES ? options.wire.resume?.(body, answer.value) : null
      if (!next) return toLibraryForm(answer, request ? options.wire.decode : (value) => value)
      body = next
    }
  }
}

interface Answer {
  response: Response
  text: string
  /** The parsed text; undefined when it is not JSON. */
  value: unknown
}

/** @param own the headers of a translated request; null when the headers of the library are sent */
async function exchange(
  options: WireOptions,
  url: string,
  init: WatchedInit,
  own: Record<string, string> | null,
): Promise<Answer> {
  const signal = init.signal ?? undefined
  const headers = own
    ? new Headers({ 'content-type': 'application/json', accept: 'application/json', ...own })
    : new Headers(init.headers)
  if (options.authorize) {
    headers.delete('authorization')
    const proof = await options.authorize({ url, body: typeof init.body === 'string' ? init.body : '', signal })
    for (const [name, value] of Object.entries(proof)) headers.set(name, value)
  } else if (own) headers.set('authorization', new Headers(init.headers).get('authorization') ?? '')
  const post = { method: 'POST', headers, body: init.body, signal, redirect: 'manual' } as const
  const response = await postWithin(options.fetch, url, post)
  const maxBytes = options.maxBytes ?? 32 * 1024 * 1024
  if (response.ok && isStream(response.headers.get('content-type') ?? '')) {
    const value = await readStreamed(response, options.wire, init.watch ?? NO_WATCH, maxBytes)
    return { response, text: '', value }
  }
  const text = await readText(response, maxBytes)
  const value =
    response.ok && isEvents(text) ? (assemble(options.wire, readEvents(text)) ?? undefined) : parseJson(text)
  return { response, text, value }
}

/**
 * Posts a request and follows redirects within its origin, which some gateways use. A redirect to another origin is an
 * error, because it would send the key and the prompt to another server.
 */
async function postWithin(fetcher: WireOptions['fetch'], url: string, init: RequestInit, hops = 0): Promise<Response> {
  const response = await fetcher(url, init)
  const location = response.headers.get('location')
  if (![307, 308].includes(response.status) || location === null) return response
  await response.body?.cancel()
  const next = URL.canParse(location, url) ? new URL(location, url) : null
  if (next?.origin !== new URL(url).origin || hops === 3)
    throw new CallFailure('the server redirects elsewhere, which is not followed', 502, { retryable: false })
  return postWithin(fetcher, next.href, init, hops + 1)
}

async function readText(response: Response, limit: number): Promise<string> {
  const tooLarge = () => new CallFailure(`the answer is larger than ${limit} bytes`, 502, { retryable: false })
  let bytes = await readStream(response.body, limit, tooLarge)
  // The magic number of gzip: some gateways compress an answer without the header for it.
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    bytes = await readStream(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), limit, tooLarge)
  return new TextDecoder().decode(bytes)
}

/** Makes the response for the library. Throws `CallFailure` for an error status. */
function toLibraryForm({ response, text, value }: Answer, decode: Wire['decode']): Response {
  if (!response.ok) throw statusFailure({ response, text, value })
  const body = value === undefined ? text : JSON.stringify(decode(value))
  const type = value === undefined ? (response.headers.get('content-type') ?? 'text/plain') : 'application/json'
  const { status } = response
  return new Response([204, 205].includes(status) ? null : body, { status, headers: { 'content-type': type } })
}

/** A longer wait indicates a daily limit rather than one per minute, and outlasts all attempts. */
const LONGEST_LIMIT_MS = 3_600_000

function statusFailure({ response: { status, headers }, text, value }: Answer): CallFailure {
  const error = readError(value)
  const advice = headers.get('x-should-retry')
  const waitMs = retryAfterMs(headers) ?? retryAfter(headers) ?? error?.wait_ms ?? null
  const isDayLimit = headers.get('retry-after') === null && (error?.wait_ms ?? 0) > LONGEST_LIMIT_MS
  return new CallFailure(error?.message ?? shownText(text, value, status), status, {
    retryable: advice === 'true' || isRetryable(status),
    wait_ms: isDayLimit ? null : waitMs,
    // An exhausted budget has the status of a rate limit, but another attempt does not help. The providers' own clients
    // obey this header too. Another entry of the same name may still have a budget.
    again_here: advice !== 'false' && !isDayLimit,
    parameter: error?.param ?? null,
  })
}

/** Returns the wait in milliseconds by `retry-after-ms`, which is more precise than `retry-after`; null without it. */
function retryAfterMs(headers: Headers): number | null {
  const wait = Number(headers.get('retry-after-ms') || Number.NaN)
  return Number.isFinite(wait) && wait >= 0 ? wait : null
}

/** Returns the text of an error in an unknown form; for JSON or an HTML page of a gateway, only the status. */
const shownText = (text: string, value: unknown, status: number): string =>
  value !== undefined || text.trim() === '' || /^\s*</.test(text) ? `HTTP ${status}` : text

/** True if a text is a stream of events, which some servers send under another content type. */
const isEvents = (text: string): boolean => /^\s*(event|data): ?\S/.test(text)
