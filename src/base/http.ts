/**
 * The one way out: every HTTP call of core, worker and sidecars passes here, so that each has a
 * timeout and a place in the error table, and tests mock all of them at `fetch`.
 */
export type Fetch = typeof globalThis.fetch

export interface OutboundRequest {
  url: string | URL
  method?: string
  headers?: Record<string, string>
  /** Sent as is; `json` sets content type and serialises. */
  body?: BodyInit | null
  json?: unknown
  /** Milliseconds for one attempt, headers and body included. */
  timeout_ms: number
  /** Further attempts after the first on network faults, timeouts and the statuses of `retry_statuses`. Default 0. */
  retries?: number
  retry_statuses?: readonly number[]
  /** First wait between attempts in milliseconds, doubled each time. Default 250. */
  backoff_ms?: number
  signal?: AbortSignal
  redirect?: RequestRedirect
  /** Largest answer body accepted, in bytes. Default 64 MiB. */
  max_bytes?: number
}

export interface OutboundResponse {
  status: number
  headers: Headers
  body: Uint8Array<ArrayBuffer>
  text(): string
  /** Throws `OutboundError` kind `body` when the text is no JSON. */
  json(): unknown
}

/** `timeout` and `network` never reached an answer; `body` is an answer that could not be read. */
export class OutboundError extends Error {
  readonly kind: 'timeout' | 'network' | 'body' | 'aborted'
  constructor(kind: OutboundError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'OutboundError'
    this.kind = kind
  }
}

/** Answers with any HTTP status; only transport faults throw (`OutboundError`). */
export async function send(fetcher: Fetch, request: OutboundRequest): Promise<OutboundResponse> {
  const attempts = 1 + (request.retries ?? 0)
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await sendOnce(fetcher, request)
      if (attempt < attempts && request.retry_statuses?.includes(response.status))
        await pause(request, attempt, retryAfter(response.headers))
      else return response
    } catch (error) {
      if (!(error instanceof OutboundError) || error.kind === 'aborted' || attempt >= attempts) throw error
      await pause(request, attempt)
    }
  }
}

async function sendOnce(fetcher: Fetch, request: OutboundRequest): Promise<OutboundResponse> {
  const timeout = AbortSignal.timeout(request.timeout_ms)
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout
  const headers = new Headers(request.headers)
  let body = request.body ?? null
  if (request.json !== undefined) {
    body = JSON.stringify(request.json)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  }
  try {
    const response = await fetcher(request.url, {
      method: request.method ?? 'GET',
      headers,
      body,
      signal,
      redirect: request.redirect ?? 'manual',
    })
    const bytes = await readAll(response, request.max_bytes ?? 64 * 1024 * 1024)
    return toOutboundResponse(response, bytes)
  } catch (error) {
    if (error instanceof OutboundError) throw error
    if (request.signal?.aborted) throw new OutboundError('aborted', 'the call was cancelled', { cause: error })
    if (timeout.aborted)
      throw new OutboundError('timeout', `no answer within ${request.timeout_ms / 1000} s`, { cause: error })
    throw new OutboundError('network', 'the connection failed', { cause: error })
  }
}

const readAll = (response: Response, limit: number) =>
  readStream(response.body, limit, () => new OutboundError('body', `the answer is larger than ${limit} bytes`))

function toOutboundResponse(response: Response, bytes: Uint8Array<ArrayBuffer>): OutboundResponse {
  const text = () => new TextDecoder().decode(bytes)
  return {
    status: response.status,
    headers: response.headers,
    body: bytes,
    text,
    json: () => {
      try {
        return JSON.parse(text())
      } catch (error) {
        throw new OutboundError('body', 'the answer is not JSON', { cause: error })
      }
    },
  }
}

/** `Retry-After` in milliseconds, given as seconds or as a date; null when absent or unreadable. */
export function retryAfter(headers: Headers, now = Date.now()): number | null {
  const value = headers.get('retry-after')
  if (!value) return null
  const seconds = Number(value)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now
  return Number.isFinite(wait) && wait >= 0 ? wait : null
}

const MAX_WAIT_MS = 60_000

async function pause(request: OutboundRequest, attempt: number, requestedMs: number | null = null): Promise<void> {
  const backoff = (request.backoff_ms ?? 250) * 2 ** (attempt - 1)
  await delay(Math.min(requestedMs ?? backoff, MAX_WAIT_MS), request.signal)
}

/** Resolves after `ms`; rejects with `OutboundError` kind `aborted` when the signal fires first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(new OutboundError('aborted', 'the call was cancelled', { cause: signal?.reason }))
    }
    if (signal?.aborted) return reject(new OutboundError('aborted', 'the call was cancelled', { cause: signal.reason }))
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/**
 * Reads a body whole.
 * @param limit bytes
 * @param tooLarge makes the error for a longer one, which is not read to its end
 */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!stream) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  const all = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.byteLength
  }
  return all
}
