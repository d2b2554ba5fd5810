import type { StorageConfig } from '../../../config/types.ts'
import { internal, notFound, type PlatformError, unavailable } from '../../base/errors.ts'
import { type Fetch, OutboundError, type OutboundResponse, send, TRANSIENT_STATUSES } from '../../base/http.ts'

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
  /** Returns a URL for GET at the public host, valid for `presign_expiry_seconds`. Sends no request. */
  presign(key: string): Promise<string>
  /**
   * Returns the time at which URLs signed now become invalid before their own expiry, because the temporary credentials
   * that signed them expire. Null when only the URL's expiry counts.
   */
  urlsLapse(): Promise<Date | null>
  /** The prefix of metadata names in the headers that a browser receives: `x-amz-meta-` or `x-ms-meta-`. */
  readonly metadataPrefix: string
}

/** One request to the object store, with signed headers. */
export interface StoreRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Uint8Array<ArrayBuffer>
  signal?: AbortSignal
  /** Largest accepted response in bytes; default 64 MiB. */
  maxBytes?: number
}

export type StoreCall = (request: StoreRequest) => Promise<OutboundResponse>

/**
 * Makes the function that sends requests to the store. An attempt may take the configured connect and read timeouts
 * together, 13 s by default. There are three attempts, with waits of 200 and 400 ms. The function returns responses of
 * any status, and throws `PlatformError` 503 when the store cannot be reached.
 */
export function createStoreCall(
  config: Pick<StorageConfig, 'connect_timeout' | 'read_timeout' | 'max_attempts'>,
  fetcher: Fetch,
  firstWaitMs = 200,
): StoreCall {
  return async (request) => {
    try {
      return await send(fetcher, {
        ...request,
        timeoutMs: (config.connect_timeout + config.read_timeout) * 1000,
        retries: Math.max(0, config.max_attempts - 1),
        retryStatuses: TRANSIENT_STATUSES,
        backoffMs: firstWaitMs,
      })
    } catch (error) {
      if (error instanceof OutboundError && error.kind === 'aborted') throw error
      throw unavailable('The object store cannot be reached.', error)
    }
  }
}

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
      const response = await request(key, { method: 'PUT', headers, body: bytes, signal })
      if (response.status !== answers.put) throw storeError(response, `the upload of ${key}`)
      return bytes.byteLength
    },
    get: async (key, options = {}) => {
      const response = await request(key, { method: 'GET', headers: {}, ...options })
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

/** Makes the error of an unsuccessful response: 503 from a gateway or a busy store, otherwise 500. */
export function storeError(response: OutboundResponse, what: string): PlatformError {
  const answer = [response.status, errorCode(response)].filter(Boolean).join(' ')
  if (response.status === 502 || response.status === 503 || response.status === 504)
    return unavailable('The object store cannot be reached.', answer)
  return internal(`The object store refused ${what} (${answer}).`)
}

/** True if the object does not exist. A missing bucket is a different error. */
const isMissing = (response: OutboundResponse): boolean =>
  response.status === 404 && ['', 'NoSuchKey', 'BlobNotFound'].includes(errorCode(response))

/** Returns the error code of a response: a header of blob stores, or `<Code>` of the error document. */
export function errorCode(response: OutboundResponse): string {
  const code =
    response.headers.get('x-ms-error-code') ?? /<Code>([A-Za-z0-9_.-]{1,64})<\/Code>/.exec(response.text())?.[1]
  return code ?? ''
}
