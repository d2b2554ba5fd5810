import type { Fetch } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'

/** Everything that the discovery of one scope may use of the process. */
export interface InventoryRequest {
  scopeId: string
  /** Environment of the service: credentials, regions, endpoint overrides. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** Fires when the job's time is up or the service stops. */
  signal: AbortSignal
  log: Logger
  now: () => Date
  /** Milliseconds before a refused call is repeated, doubled with each repetition. Default 500. */
  backoffMs?: number
}

/**
 * Lists the identifiers of everything in a scope that an engine could manage.
 * Errors: `InventoryError`, whose message is shown to the user.
 */
export type Inventory = (request: InventoryRequest) => Promise<string[]>

/** A discovery that could not be completed. The message names the source and holds no credentials. */
export class InventoryError extends Error {
  override readonly name: string = 'InventoryError'
}

/** A cloud has answered with a status that is no success. */
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
