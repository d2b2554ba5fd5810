import type { StorageConfig } from '../../../config/types.ts'
import { internal, notFound, type PlatformError, unavailable } from '../../base/errors.ts'
import { delay, type Fetch, OutboundError, type OutboundResponse, send, TRANSIENT_STATUSES } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'

/** A bucket of objects. Throws `PlatformError`: 404 for a missing object, 503 when unreachable, otherwise 500. */
export interface ObjectStore {
  /** Creates the missing buckets: for artifacts and, when the platform manages engine state, for the state. */
  ensureBuckets(): Promise<void>
  /** Stores an object and returns its size in bytes. The store adds its own prefix to the names of metadata. */
  put(
    key: string,
    body: string | Uint8Array<ArrayBuffer>,
    options: { content_type: string; metadata?: Record<string, string>; signal?: AbortSignal },
  ): Promise<number>
  /** Reads an object. Throws when it is larger than `maxBytes`, by default 64 MiB. */
  get(key: string, options?: { signal?: AbortSignal; maxBytes?: number }): Promise<Uint8Array<ArrayBuffer>>
  /** Deletes an object, if it exists. */
  delete(key: string): Promise<void>
  /** Returns the keys of up to 1,000 objects whose keys begin with `prefix`. */
  list(prefix: string): Promise<string[]>
  /** Returns a URL for GET at the public host, valid for `presign_expiry_seconds`. Sends no request. */
  presign(key: string): Promise<string>
  /**
   * Returns the time at which URLs signed now become invalid before their own expiry, because the temporary credentials
   * that signed them expire. Null when only the URL's expiry counts.
   */
  urlsLapse(): Promise<Date | null>
  /** False while the bucket of artifacts cannot be used. Sends no request of its own: see `watchStore`. */
  isOn(): boolean
  /** The prefix of metadata names in the headers that a browser receives: `x-amz-meta-` or `x-ms-meta-`. */
  readonly metadataPrefix: string
}

/** One request to the object store, without its signature. */
export interface StoreRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Uint8Array<ArrayBuffer>
  signal?: AbortSignal
  /** Largest accepted response in bytes; default 64 MiB. */
  maxBytes?: number
  /** True to go on trying while the store is away, where the process may wait. */
  patient?: boolean
}

/** Signs a request: returns all headers with the signature. */
export type Sign = (request: StoreRequest) => Promise<Record<string, string>>
export type StoreCall = (request: StoreRequest, sign: Sign) => Promise<OutboundResponse>

/** The clock of the store: that of the machine, corrected where the store has refused its time. */
export interface StoreClock {
  now(): Date
  /** Reads the time of a refusal. True if the request was signed at another time, so that it is worth repeating. */
  correct(refusal: OutboundResponse, signedAt: Date): boolean
}

/** Stores accept a difference of 15 minutes. A smaller one is never the reason of a refusal. */
const ACCEPTED_SKEW_MS = 5 * 60_000

export function createStoreClock(now: () => Date, log: Logger): StoreClock {
  let ahead = 0
  return {
    now: () => new Date(now().getTime() + ahead),
    correct: ({ status, headers }, signedAt) => {
      const theirs = Date.parse(headers.get('date') ?? '')
      const isRefusal = status === 400 || status === 401 || status === 403
      if (!isRefusal || !(Math.abs(theirs - signedAt.getTime()) > ACCEPTED_SKEW_MS)) return false
      ahead = theirs - now().getTime()
      const seconds = Math.round(ahead / 1000)
      log.warn('the clock of this machine differs from that of the object store, whose time is used', { seconds })
      return true
    },
  }
}

/** The lowest rate for which an attempt has time, in bytes per second: a large object takes longer than `read_timeout`. */
const LOWEST_RATE = 256 * 1024
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Makes the function that signs requests and sends them to the store. An attempt may take the configured connect and
 * read timeouts together, 13 s by default, and the time that its bytes need. There are three attempts, with waits of 200
 * and 400 ms, and more for patient requests, until `retry_seconds` are over. The function returns responses of any
 * status, and throws `PlatformError` 503 when the store cannot be reached.
 */
export function createStoreCall(
  config: Pick<StorageConfig, 'connect_timeout' | 'read_timeout' | 'max_attempts' | 'retry_seconds'>,
  tools: { fetch: Fetch; clock: StoreClock; log: Logger; firstWaitMs?: number; patient?: boolean },
): StoreCall {
  const { fetch, clock, log, firstWaitMs = 200 } = tools
  const sendOnce = async (request: StoreRequest, sign: Sign) => {
    let signedAt = clock.now()
    const attempt = () =>
      send(fetch, {
        ...request,
        headers: () => {
          signedAt = clock.now()
          return sign(request)
        },
        timeoutMs: Math.ceil((config.connect_timeout + config.read_timeout + secondsFor(request)) * 1000),
        retries: Math.max(0, config.max_attempts - 1),
        retryStatuses: TRANSIENT_STATUSES,
        backoffMs: firstWaitMs,
      })
    const response = await attempt()
    return clock.correct(response, signedAt) ? attempt() : response
  }
  return async (request, sign) => {
    const until = request.patient && tools.patient ? Date.now() + config.retry_seconds * 1000 : 0
    for (let waitMs = firstWaitMs * 5; ; waitMs = Math.min(waitMs * 2, firstWaitMs * 50)) {
      const outcome = await sendOnce(request, sign).catch((error: unknown) => {
        if (error instanceof OutboundError && error.kind !== 'aborted') return error
        throw error
      })
      const isAway = outcome instanceof OutboundError || TRANSIENT_STATUSES.includes(outcome.status)
      if (isAway && Date.now() + waitMs < until) {
        if (waitMs === firstWaitMs * 5) log.warn('the object store is away or busy, trying again', describe(outcome))
        await delay(waitMs, request.signal)
      } else if (outcome instanceof OutboundError) throw unavailable('The object store cannot be reached.', outcome)
      else return outcome
    }
  }
}

const describe = (outcome: OutboundResponse | OutboundError) =>
  outcome instanceof OutboundError ? { error: outcome } : { status: outcome.status, code: errorCode(outcome) }

/** Returns the seconds that the bytes of a request or its response may take beside the time-outs. */
const secondsFor = ({ method, body, maxBytes = MAX_BYTES }: StoreRequest) =>
  method === 'GET' ? Math.min(maxBytes / LOWEST_RATE, LONGEST_READ_S) : (body?.byteLength ?? 0) / LOWEST_RATE
/** Nothing tells the size of an object before it is read. On Node a read also ends when no byte comes. */
const LONGEST_READ_S = 60

/**
 * Makes the methods that a store has for objects.
 * @param request sends a signed request for an object
 * @param answers the statuses of a successful upload and deletion
 */
export function objectMethods(
  metadataPrefix: string,
  answers: { put: number; delete: number[] },
  request: (key: string, request: Omit<StoreRequest, 'url'>) => Promise<OutboundResponse>,
): Pick<ObjectStore, 'put' | 'get' | 'delete' | 'metadataPrefix'> {
  return {
    metadataPrefix,
    put: async (key, body, { content_type, metadata = {}, signal }) => {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const prefixed = Object.entries(metadata).map(([name, value]) => [`${metadataPrefix}${name}`, value])
      const headers = { 'content-type': content_type, ...Object.fromEntries(prefixed) }
      const response = await request(key, { method: 'PUT', headers, body: bytes, signal, patient: true })
      if (response.status !== answers.put) throw storeError(response, `the upload of ${key}`)
      return bytes.byteLength
    },
    get: async (key, options = {}) => {
      const response = await request(key, { method: 'GET', headers: {}, ...options, patient: true })
      if (isMissing(response)) throw notFound(`Object not found: ${key}`)
      if (response.status !== 200) throw storeError(response, `the read of ${key}`)
      return response.body
    },
    delete: async (key) => {
      const response = await request(key, { method: 'DELETE', headers: {} })
      if (response.status !== 404 && !answers.delete.includes(response.status))
        throw storeError(response, `the deletion of ${key}`)
    },
  }
}

/**
 * Reads the keys of objects from the answer to a listing.
 * @param element the XML element of a key: `Key` or `Name`
 */
export function readKeys(response: OutboundResponse, element: string, prefix: string): string[] {
  if (response.status !== 200) throw storeError(response, `the list of ${prefix}`)
  const keys = response.text().matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))
  // Blob storage names the container in the same way, as an attribute; the prefix excludes anything else.
  return [...keys].map(([, key = '']) => decodeXml(key)).filter((key) => key.startsWith(prefix))
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeXml = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? whole
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))
  })

/** Makes the error of an unsuccessful response: 503 from a gateway or a busy store, otherwise 500. */
export function storeError(response: OutboundResponse, what: string): PlatformError {
  if (response.status !== 500 && TRANSIENT_STATUSES.includes(response.status))
    return unavailable('The object store cannot be reached.', answerOf(response))
  return internal(`The object store refused ${what} (${answerOf(response)}).`)
}

/** Returns status and code of a refusal, and where the bucket is when the request went to another region. */
export function answerOf(response: OutboundResponse, code = errorCode(response)): string {
  const region =
    response.headers.get('x-amz-bucket-region') ?? /<Region>([a-z0-9-]{1,64})<\/Region>/i.exec(response.text())?.[1]
  const isElsewhere = region !== undefined && (response.status === 301 || ELSEWHERE.has(code))
  return [response.status, code].filter(Boolean).join(' ') + (isElsewhere ? `; it is in region ${region}` : '')
}

const ELSEWHERE = new Set(['AuthorizationHeaderMalformed', 'PermanentRedirect', 'TemporaryRedirect'])

/** True if the object does not exist. A missing bucket is a different error. */
const isMissing = (response: OutboundResponse): boolean =>
  response.status === 404 && ['', 'NoSuchKey', 'BlobNotFound'].includes(errorCode(response))

/** Returns the error code of a response: a header of blob stores, or `<Code>` of the error document. */
export function errorCode(response: OutboundResponse): string {
  const code =
    response.headers.get('x-ms-error-code') ?? /<Code>([A-Za-z0-9_.-]{1,64})<\/Code>/.exec(response.text())?.[1]
  return code ?? ''
}
