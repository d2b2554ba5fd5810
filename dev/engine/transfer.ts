import { type Fetch, send, TRANSIENT_STATUSES } from '../../src/base/http.ts'

/** Receives the bytes of a file so far and in total; null where the server does not say the total. */
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
 * Fetches a file. A broken or stalled transfer is tried again, twice.
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

/** Returns the deepest cause that has a text: `getaddrinfo ENOTFOUND github.com` and not `fetch failed`. */
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

/** Wraps `fetch`: reports the progress of answers and aborts stalled ones. */
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
