import type { Fetch } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'

/** What the discovery of one scope may use; nothing else of the process is read. */
export interface InventoryRequest {
  scopeId: string
  /** Environment of the service: credentials, regions, endpoint overrides. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** Fires when the job's time is up or the service stops. */
  signal: AbortSignal
  log: Logger
  now: () => Date
  /** First wait before a refused call is repeated, in milliseconds, doubled each time. Default 500. */
  backoffMs?: number
}

/**
 * Lists the identifiers of everything a scope holds that an engine could manage: unique, first seen first.
 * Errors: `InventoryError`, whose message is shown to the user.
 */
export type Inventory = (request: InventoryRequest) => Promise<string[]>

/** A discovery that could not be completed. The message names the source and holds no credentials. */
export class InventoryError extends Error {
  override readonly name: string = 'InventoryError'
}

/** An answer of a cloud that is no success. */
export class RefusedError extends InventoryError {
  override readonly name = 'RefusedError'
  readonly status: number
  /** The cloud's own name of the error, such as `AccessDenied`; empty when the answer has none. */
  readonly code: string
  constructor(source: string, status: number, code: string, message: string) {
    super(`${status} from ${source}: ${message}`)
    this.status = status
    this.code = code
  }
}
