/**
 * The type of `fetch`. All HTTP calls of core, worker and sidecars go through `send` below with an injected `fetch`, so
 * that each has a timeout and known errors, and tests can replace them in one place.
 */
export type Fetch = typeof globalThis.fetch

/** Statuses that are usually temporary: rate limits, and faults of a server or gateway. */
export const TRANSIENT_STATUSES: readonly number[] = [429, 500, 502, 503, 504]

/** Returns the `Authorization` header value for a name and a password (RFC 7617, UTF-8). */
export const basicAuthorization = (user: string, password: string): string =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`

export interface OutboundRequest {
  url: string | URL
  method?: string
  /** A function is called for each attempt: a signature holds the time and lapses. Its errors are thrown as they are. */
  headers?: Record<string, string> | (() => Promise<Record<string, string>>)
  /** Sent unchanged. The alternative `json` is serialised and sets the content type unless `headers` do. */
  body?: BodyInit | null
  json?: unknown
  /** Milliseconds for one attempt, from connecting to the end of the body. */
  timeoutMs: number
  /** Additional attempts after network faults, timeouts and statuses in `retryStatuses`. Default 0. */
  retries?: number
  retryStatuses?: readonly number[]
  /**
   * Milliseconds before the second attempt; each later wait doubles. With the default of 250 and three retries the
   * waits are 250, 500 and 1000 ms. A `Retry-After` header replaces a wait.
   */
  backoffMs?: number
  signal?: AbortSignal
  redirect?: RequestRedirect
  /** Largest accepted response body in bytes. Default 64 MiB. */
  maxBytes?: number
}

/**
 * A call without a usable response. `timeout` and `network`: none arrived. `body`: it could not be read or was too
 * large. `aborted`: the caller's signal fired.
 */
export class OutboundError extends Error {
  readonly kind: 'timeout' | 'network' | 'body' | 'aborted'
  constructor(kind: OutboundError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'OutboundError'
    this.kind = kind
  }
}

/** Sends a request, with retries. Any HTTP status is returned as a response. Throws `OutboundError`. */
export async function send(fetcher: Fetch, request: OutboundRequest): Promise<OutboundResponse> {
  const attempts = 1 + (request.retries ?? 0)
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await sendOnce(fetcher, request)
      if (attempt < attempts && request.retryStatuses?.includes(response.status))
        await pause(request, attempt, retryAfter(response.headers))
      else return response
    } catch (error) {
      if (!(error instanceof OutboundError) || attempt >= attempts) throw error
      // An answer that is too large stays so.
      if (error.kind === 'aborted' || error.kind === 'body') throw error
      await pause(request, attempt)
    }
  }
}

async function sendOnce(fetcher: Fetch, request: OutboundRequest): Promise<OutboundResponse> {
  const headers = new Headers(typeof request.headers === 'function' ? await request.headers() : request.headers)
  const timeout = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout
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
    const limit = request.maxBytes ?? 64 * 1024 * 1024
    const tooLarge = () => new OutboundError('body', `the answer is larger than ${limit} bytes`)
    return toOutboundResponse(response, await readStream(response.body, limit, tooLarge))
  } catch (error) {
    if (error instanceof OutboundError) throw error
    if (request.signal?.aborted) throw new OutboundError('aborted', 'the call was cancelled', { cause: error })
    if (timeout.aborted)
      throw new OutboundError('timeout', `no answer within ${request.timeoutMs / 1000} s`, { cause: error })
    throw new OutboundError('network', 'the connection failed', { cause: error })
  }
}

function toOutboundResponse({ status, headers }: Response, body: Uint8Array<ArrayBuffer>) {
  const text = () => new TextDecoder().decode(body)
  return {
    status,
    headers,
    body,
    text,
    /** Throws `OutboundError` of kind `body` when the text is not JSON. */
    json: (): unknown => {
      try {
        return JSON.parse(text())
      } catch (error) {
        throw new OutboundError('body', 'the answer is not JSON', { cause: error })
      }
    },
  }
}

export type OutboundResponse = ReturnType<typeof toOutboundResponse>

/** Returns the `Retry-After` header (seconds or a date) as milliseconds from `now`; null when absent or invalid. */
export function retryAfter(headers: Headers, now = Date.now()): number | null {
  const value = headers.get('retry-after')
  if (!value) return null
  const seconds = Number(value)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now
  return Number.isFinite(wait) && wait >= 0 ? wait : null
}

/** The longest wait between two attempts, regardless of the server's request. */
const MAX_WAIT_MS = 60_000

async function pause(request: OutboundRequest, attempt: number, requestedMs: number | null = null): Promise<void> {
  const backoff = (request.backoffMs ?? 250) * 2 ** (attempt - 1)
  await delay(Math.min(requestedMs ?? backoff, MAX_WAIT_MS), request.signal)
}

/** Waits `ms` milliseconds. Throws `OutboundError` of kind `aborted` if the signal fires first. */
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
 * Reads a stream to its end; a missing stream reads as no bytes.
 * @param limit largest size in bytes; reading stops once it is exceeded
 * @param tooLarge makes the error for that case
 */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!stream) return new Uint8Array()
  const blocks: Uint8Array[] = []
  let pending = new Uint8Array(SMALL_CHUNK)
  let [size, filled] = [0, 0]
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge()
    if (filled + chunk.byteLength > pending.byteLength) {
      blocks.push(pending.subarray(0, filled))
      pending = new Uint8Array(SMALL_CHUNK)
      filled = 0
    }
    if (chunk.byteLength >= SMALL_CHUNK) blocks.push(chunk)
    else {
      pending.set(chunk, filled)
      filled += chunk.byteLength
    }
  }
  return await concatenate([...blocks, pending.subarray(0, filled)], size)
}

/** Smaller chunks are merged: a sender may put each byte into its own chunk, which takes far more memory. */
const SMALL_CHUNK = 16 * 1024
/** Bytes to copy before yielding to the event loop. */
const COPY_AT_ONCE = 4 * 1024 * 1024

async function concatenate(blocks: readonly Uint8Array[], size: number): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(size)
  let [offset, pausedAt] = [0, 0]
  for (const block of blocks) {
    all.set(block, offset)
    offset += block.byteLength
    if (offset - pausedAt < COPY_AT_ONCE) continue
    pausedAt = offset
    await new Promise<void>((resolve) => setTimeout(resolve, 0))
  }
  return all
}
