import { type Fetch, send, TRANSIENT_STATUSES } from '../../src/base/http.ts'

/** How much of a file is there; `total` is null where the server does not say it. In bytes. */
export type Progress = (done: number, total: number | null) => void

export interface Transfer {
  fetch: Fetch
  /** Milliseconds without a byte after which an attempt is given up. */
  stallMs: number
  signal?: AbortSignal
}

const ATTEMPT_MS = 30 * 60_000
const RETRIES = 2

/**
 * Fetches a file. What is cut off or stands still is fetched again, twice.
 * @param maxBytes largest size that is accepted
 * @throws Error with a reason that completes "could not be fetched"
 */
export async function fetchFile(
  url: string,
  maxBytes: number,
  { fetch, stallMs, signal }: Transfer,
  progress?: Progress,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await send(watched(fetch, stallMs, progress), {
    url,
    timeoutMs: ATTEMPT_MS,
    retries: RETRIES,
    retryStatuses: TRANSIENT_STATUSES,
    redirect: 'follow',
    maxBytes,
    signal,
  }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new Error(`${new URL(url).host}: ${reasonOf(error)}`)
  })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  return response.body
}

/** The deepest cause that says something: `getaddrinfo ENOTFOUND github.com` and not `fetch failed`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (error instanceof Stalled || !(cause instanceof Error)) return error.message || error.name
  const deeper = reasonOf(cause)
  return deeper === '' ? error.message : deeper
}

class Stalled extends Error {
  override name = 'Stalled'
}

/** A `fetch` whose answers tell how much of them has come, and which gives up those that stand still. */
function watched(fetch: Fetch, stallMs: number, progress: Progress | undefined): Fetch {
  return async (input, init) => {
    const stall = new AbortController()
    const timer = setTimeout(() => stall.abort(new Stalled(`nothing came for ${stallMs / 1000} s`)), stallMs)
    try {
      const signal = AbortSignal.any([stall.signal, ...(init?.signal ? [init.signal] : [])])
      const response = await fetch(input, { ...init, signal })
      if (!response.body) return response
      const total = Number(response.headers.get('content-length')) || null
      let done = 0
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          timer.refresh()
          done += chunk.byteLength
          progress?.(done, total)
          controller.enqueue(chunk)
        },
        flush: () => clearTimeout(timer),
      })
      return new Response(response.body.pipeThrough(counter), { status: response.status, headers: response.headers })
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }
}
