import type { Fetch } from '../../../src/http/outbound.ts'
import type { Logger } from '../../../src/log/logger.ts'

/** What the discovery of one scope may use; nothing else of the process is read. */
export interface InventoryRequest {
  scope_id: string
  /** Environment of the service: credentials, regions, endpoint overrides. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** Fires when the job's time is up or the service stops. */
  signal: AbortSignal
  log: Logger
  now: () => Date
}

/**
 * Lists the identifiers of everything a scope holds that an engine could manage: unique, first seen first.
 * Errors: `InventoryError`, whose message is shown to the user.
 */
export type Inventory = (request: InventoryRequest) => Promise<string[]>

/** A discovery that could not be completed. The message names the source and holds no credentials. */
export class InventoryError extends Error {
  override readonly name = 'InventoryError'
}
