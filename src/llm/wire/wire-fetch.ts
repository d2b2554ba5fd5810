import { type Fetch, readStream } from '../../base/http.ts'
import { CallFailure } from '../call.ts'
import { isEventStream, readEvents } from './converse.ts'
import { readError } from './error-of.ts'
import type { ChatRequest, Wire } from './types.ts'

/** Headers that prove who calls. Asked for each request, since tokens lapse and signatures cover the body. */
export type Authorize = (request: {
  url: string
  body: string
  signal?: AbortSignal
}) => Promise<Record<string, string>>

export interface WireOptions {
  fetch: Fetch
  wire: Wire
  /** What `path` of the wire is joined to. */
  base_url: string
  /** Absent: the bearer key of the library goes out. */
  authorize?: Authorize
  /** Changes the address of requests that go out untranslated. */
  address?: (url: URL) => URL
  /** Largest answer in bytes. */
  max_bytes?: number
}

const MAX_BYTES = 32 * 1024 * 1024
/** How often a paused turn is taken up again. */
const MAX_RESUMES = 4

/**
 * A fetch for the `openai` package that speaks another provider's form to the outside: the request is
 * translated, the answer read whole, unpacked, put together and translated back.
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
  /** Undefined when the text is no JSON. */
  value: unknown
}

/** @param own headers of a translated request; null when those of the library go out */
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
  const text = await readText(response, options.max_bytes ?? MAX_BYTES)
  if (response.ok && isEventStream(response.headers.get('content-type') ?? '', text)) {
    const value = options.wire.assemble(readEvents(text)) ?? undefined
    return { response, text, value }
  }
  return { response, text, value: parseJson(text) }
}

const MAX_HOPS = 3

/** Keys and prompts go where they were sent: a redirect is followed within its origin, as gateways make them. */
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
  // Packed by a gateway that forgot to say so.
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

/** Errors in the form that the library reads; what is no JSON stays what it is. */
function toLibraryForm({ response, text, value }: Answer): Response {
  if (value === undefined)
    return new Response(bodyFor(response.status, text), {
      status: response.status,
      headers: withoutBodyHeaders(response.headers),
    })
  const error = response.ok ? null : readError(value)
  return jsonResponse(response, error ? { error: { message: error.message, param: error.param, code: null } } : value)
}

const jsonResponse = (response: Response, value: unknown): Response => {
  const headers = withoutBodyHeaders(response.headers)
  headers.set('content-type', 'application/json')
  return new Response(bodyFor(response.status, JSON.stringify(value)), { status: response.status, headers })
}

const bodyFor = (status: number, text: string): string | null => ([204, 205, 304].includes(status) ? null : text)

/** Without those that described the body on its way. */
function withoutBodyHeaders(headers: Headers): Headers {
  const kept = new Headers(headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name)
  return kept
}
