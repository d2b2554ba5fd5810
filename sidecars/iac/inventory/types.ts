import type { Fetch } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'

/** The inputs and means of the discovery of one scope. */
export interface InventoryRequest {
  scopeId: string
  /** Environment of the service: credentials, regions, endpoint overrides. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** Fires at the time limit of the job or when the service stops. */
  signal: AbortSignal
  log: Logger
  now: () => Date
  /** Milliseconds before the first retry, doubled with each further one. Default 500. */
  backoffMs?: number
}

/** Lists the identifiers of all manageable objects in a scope. Errors: `InventoryError`, shown to the user. */
export type Inventory = (request: InventoryRequest) => Promise<string[]>

/** Thrown when a discovery cannot be completed. The message names the source and holds no credentials. */
export class InventoryError extends Error {
  override readonly name: string = 'InventoryError'
}

/** Thrown when a cloud answers with a status that is no success. */
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
