import { parseJson } from '../json.ts'
import { createStore } from '../observable.ts'
import { ApiError, toApiError, Unreachable } from './errors.ts'

export interface Tokens {
  /** Returns the bearer token, renewed if it is about to expire; null when authentication is disabled. */
  token(): Promise<string | null>
  /** Handles a 401 answer. Returns true if a new token was obtained, so that the request is worth a second attempt. */
  refused(): Promise<boolean>
}

export interface Query {
  [name: string]: string | number | boolean | undefined
}

interface Request {
  method: string
  /** The path below `/api/v1`, for example `/users/me`. */
  path: string
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** The client of the platform's API. */
export type Api = ReturnType<typeof createApi>

/** The timeout. The API's slowest answers take 50 seconds (pull requests). Streams have no timeout of their own. */
const TIMEOUT_MS = 60_000
/** The difference of clocks that is not corrected, in milliseconds. */
const TOLERATED_MS = 5_000
const EVENT_STREAM = 'text/event-stream'

interface Options {
  /** The address of the API, without a slash at the end. */
  base: string
  tokens: Tokens
  fetch?: typeof fetch
}

export function createApi({ base, tokens, fetch: call = (input, init) => fetch(input, init) }: Options) {
  const connection = watchConnection(() => call(`${base}/auth/config`, { signal: AbortSignal.timeout(10_000) }))

  let ahead = 0
  const seeClock = (date: string | null) => {
    const difference = Date.parse(date ?? '') - Date.now()
    // The header has whole seconds and the answer took time, so a small difference says nothing.
    if (!Number.isNaN(difference)) ahead = Math.abs(difference) < TOLERATED_MS ? 0 : difference
  }

  const once = async (request: Request): Promise<Response> => {
    const { method, path, query, body, signal } = request
    const headers = new Headers(request.headers)
    const token = await tokens.token()
    if (token !== null) headers.set('authorization', `Bearer ${token}`)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const isStream = headers.get('accept') === EVENT_STREAM
    const limits = [signal ?? [], isStream ? [] : AbortSignal.timeout(TIMEOUT_MS)].flat()
    try {
      const response = await call(`${base}${path}${toSearch(query)}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.any(limits),
        cache: 'no-store',
      })
      connection.found()
      seeClock(response.headers.get('date'))
      return response
    } catch (error) {
      if (signal?.aborted) throw error
      connection.lost()
      throw new Unreachable({ cause: error })
    }
  }
  /** Sends a request and returns its answer. Throws `ApiError` (refused), `Unreachable` (no answer) or `AbortError`. */
  const send = async (request: Request): Promise<Response> => {
    let response = await once(request)
    if (response.status === 401 && (await tokens.refused())) response = await once(request)
    if (response.ok) return response
    throw toApiError(response.status, await response.text().catch(() => ''))
  }
  /** Returns the body of the answer as JSON, null when it is empty. Throws as `send`. */
  const json = async <T>(request: Request): Promise<T> => {
    const response = await send(request)
    const text = await response.text().catch((error: unknown) => {
      if (request.signal?.aborted) throw error
      throw new Unreachable({ cause: error })
    })
    const answer = text === '' ? null : parseJson(text)
    // An intermediary, such as the sign-in page of a network, answers other texts.
    if (answer === undefined) throw new ApiError(502, 'An intermediary answered instead of the platform.')
    return answer as T
  }
  /** Returns the platform's time in milliseconds of the epoch, because the clock of this machine may be wrong. */
  const now = (): number => Date.now() + ahead
  return { connection: connection.state, now, send, json }
}

function toSearch(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

/** The state of the connection. `since` is the time of the loss in milliseconds of the epoch. */
type Connection = { online: true } | { online: false; since: number }

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

/**
 * Watches the connection. After a loss, `probe`, which resolves when the platform answers anything, runs until it does.
 */
function watchConnection(probe: () => Promise<unknown>) {
  const state = createStore<Connection>({ online: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const tryAgain = (wait: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => probe().then(found, () => tryAgain(Math.min(wait * 2, LONGEST_WAIT_MS))), wait)
  }
  /** Records a request without an answer. */
  const lost = () => {
    if (!state.get().online) return
    state.set({ online: false, since: Date.now() })
    tryAgain(FIRST_WAIT_MS)
  }
  /** Records a request with an answer. */
  const found = () => {
    clearTimeout(timer)
    if (!state.get().online) state.set({ online: true })
  }
  addEventListener('offline', lost)
  addEventListener('online', () => {
    if (!state.get().online) tryAgain(0)
  })
  return { state, lost, found }
}
