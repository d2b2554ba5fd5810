import type { StorageConfig } from '../../../config/types.ts'
import { internal, type PlatformError, unavailable } from '../../base/errors.ts'
import { type Fetch, OutboundError, type OutboundResponse, send } from '../../base/http.ts'

/** One request to the object store, signed already. */
export interface StoreRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Uint8Array<ArrayBuffer>
  signal?: AbortSignal
  /** Largest answer body accepted. */
  max_bytes?: number
}

export type StoreCall = (request: StoreRequest) => Promise<OutboundResponse>

const TRANSIENT = [429, 500, 502, 503, 504]
const FIRST_WAIT_MS = 200

/**
 * Sends with the configured budget: each attempt has the connect and the read time together.
 * Errors: `PlatformError` 503 when the store cannot be reached; any status is an answer.
 */
export function createStoreCall(
  config: Pick<StorageConfig, 'connect_timeout' | 'read_timeout' | 'max_attempts'>,
  fetcher: Fetch,
  firstWaitMs = FIRST_WAIT_MS,
): StoreCall {
  return async (request) => {
    try {
      return await send(fetcher, {
        ...request,
        timeout_ms: (config.connect_timeout + config.read_timeout) * 1000,
        retries: Math.max(0, config.max_attempts - 1),
        retry_statuses: TRANSIENT,
        backoff_ms: firstWaitMs,
      })
    } catch (error) {
      if (error instanceof OutboundError && error.kind === 'aborted') throw error
      throw unavailable('The object store cannot be reached.', error)
    }
  }
}

/** The error for an answer that is no success: 503 from a gateway or a busy store, else 500. */
export function storeError(response: OutboundResponse, what: string): PlatformError {
  const answer = [response.status, errorCode(response)].filter(Boolean).join(' ')
  if (response.status === 502 || response.status === 503 || response.status === 504)
    return unavailable('The object store cannot be reached.', answer)
  return internal(`The object store refused ${what} (${answer}).`)
}

/** The object is absent, which a missing bucket is not. */
export const isMissing = (response: OutboundResponse): boolean =>
  response.status === 404 && ['', 'NoSuchKey', 'BlobNotFound'].includes(errorCode(response))

/** `<Code>` of the error document, or the header that blob stores answer with; empty when there is none. */
export function errorCode(response: OutboundResponse): string {
  const code =
    response.headers.get('x-ms-error-code') ?? /<Code>([A-Za-z0-9_.-]{1,64})<\/Code>/.exec(response.text())?.[1]
  return code ?? ''
}
