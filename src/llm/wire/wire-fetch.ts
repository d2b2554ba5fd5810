import { type Fetch, readStream } from '../../base/http.ts'
import { CallFailure } from '../failure.ts'
import { readError } from './error-of.ts'
import { isEventStream, readEvents } from './event-stream.ts'
import type { ChatRequest, Wire } from './types.ts'

/**
 * Makes the headers that authenticate a request. It is called for each one, because tokens expire and signatures
 * depend on the body.
 */
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
  /** When it is absent, the bearer key of the library is sent. */
  authorize?: Authorize
  /** Changes the address of a request that is not translated. */
  address?: (url: URL) => URL
  /** Largest accepted answer in bytes; default 32 MiB. */
  maxBytes?: number
}

const MAX_BYTES = 32 * 1024 * 1024
/** How often a paused turn is continued at most. */
const MAX_RESUMES = 4

/**
 * A `fetch` for the `openai` library that speaks another wire form to the provider. A request is translated; its answer
 * is read to the end, decompressed, assembled if it is a stream, and translated back.
 * Errors: `CallFailure` for answers that are too large and for redirects to another origin.
 */
export function createWireFetch(options: WireOptions): Fetch {
  return async (input, init) => {
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
      if (!next) return request ? translateAnswer(options.wire, answer) : toLibraryForm(answer)
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
  init: RequestInit,
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
  const response = await postWithin(options.fetch, url, {
    method: 'POST',
    headers,
    body: init.body,
    signal,
    redirect: 'manual',
  })
  const text = await readText(response, options.maxBytes ?? MAX_BYTES)
  if (response.ok && isEventStream(response.headers.get('content-type') ?? '', text)) {
    const value = options.wire.assemble(readEvents(text)) ?? undefined
    return { response, text, value }
  }
  return { response, text, value: parseJson(text) }
}

const MAX_HOPS = 3

/**
 * Posts a request. Some gateways redirect within their origin, which is followed. A redirect to another origin is an
 * error, because it would take the key and the prompt to another server.
 */
async function postWithin(fetcher: WireOptions['fetch'], url: string, init: RequestInit, hops = 0): Promise<Response> {
  const response = await fetcher(url, init)
  const location = response.headers.get('location')
  if (![307, 308].includes(response.status) || location === null) return response
  await response.body?.cancel()
  const next = URL.canParse(location, url) ? new URL(location, url) : null
  if (next?.origin !== new URL(url).origin || hops === MAX_HOPS)
    throw new CallFailure('the server redirects elsewhere, which is not followed', 502, { retryable: false })
  return postWithin(fetcher, next.href, init, hops + 1)
}

async function readText(response: Response, limit: number): Promise<string> {
  const tooLarge = () => new CallFailure(`the answer is larger than ${limit} bytes`, 502, { retryable: false })
  let bytes = await readStream(response.body, limit, tooLarge)
  // These bytes begin a gzip stream: some gateways compress an answer without the header that says so.
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    bytes = await readStream(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), limit, tooLarge)
  return new TextDecoder().decode(bytes)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function translateAnswer(wire: Wire, { response, text, value }: Answer): Response {
  if (!response.ok || value === undefined) return toLibraryForm({ response, text, value })
  return jsonResponse(response, wire.decode(value))
}

/** A longer wait is no limit of a minute but one of a day, which outlasts all attempts. */
const LONGEST_LIMIT_MS = 3_600_000

/** The answer for the library: an error in the form that it reads, everything else as it came. */
function toLibraryForm({ response, text, value }: Answer): Response {
  if (value === undefined)
    return new Response(bodyFor(response.status, text), {
      status: response.status,
      headers: withoutBodyHeaders(response.headers),
    })
  const error = response.ok ? null : readError(value)
  if (!error) return jsonResponse(response, value)
  const answer = jsonResponse(response, { error: { message: error.message, param: error.param, code: null } })
  const { headers } = answer
  // A wait in the body is passed on as the headers that `call.ts` reads; one in a header counts more.
  if (error.wait_ms === null || headers.has('retry-after')) return answer
  if (error.wait_ms > LONGEST_LIMIT_MS) headers.set('x-should-retry', 'false')
  else headers.set('retry-after-ms', String(error.wait_ms))
  return answer
}

const jsonResponse = (response: Response, value: unknown): Response => {
  const headers = withoutBodyHeaders(response.headers)
  headers.set('content-type', 'application/json')
  return new Response(bodyFor(response.status, JSON.stringify(value)), { status: response.status, headers })
}

const bodyFor = (status: number, text: string): string | null => ([204, 205, 304].includes(status) ? null : text)

/** The headers without those that describe how the body was transferred. */
function withoutBodyHeaders(headers: Headers): Headers {
  const kept = new Headers(headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name)
  return kept
}
