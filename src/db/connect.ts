import type postgres from 'postgres'
import { createPool } from './pool.ts'
import { toServerAddress } from './server-address.ts'
import type { Sql } from './types.ts'

export interface ConnectOptions {
  /** Connections at most. Default 10. */
  max?: number
  onnotice?: (notice: postgres.Notice) => void
  /** Told of each statement, before it runs. */
  onstatement?: (text: string) => void
}

/**
 * Opens the pool; no connection is made before the first statement. Timestamps are read as the one
 * published form (`toFixedTimestamp`), 64-bit integers as numbers. A statement on a connection that
 * breaks is rejected; the ones after it get new connections.
 * @param url `postgresql://` or `postgres://`, `sslmode=` (or `ssl=`) in the spelling of libpq
 * Errors: `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function connect(url: string, { max = 10, onnotice = () => {}, onstatement }: ConnectOptions = {}): Sql {
  return createPool(toServerAddress(url), { max, onnotice, onstatement })
}
