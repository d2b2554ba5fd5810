import type { RefusalCounter } from '../src/access/audit/refusals.ts'
import type { Authenticate } from '../src/access/authenticate.ts'
import type { AddressReader } from '../src/access/caller-address.ts'
import type { User } from '../src/access/users.ts'
import type { Gate } from '../src/base/gate.ts'
import type { Logger } from '../src/base/log.ts'
import type { StreamHost } from '../src/events/sse-stream.ts'
import type { CoreContext } from './context.ts'

/** The services that requests share. */
export interface Platform extends CoreContext {
  authenticate: Authenticate
  /** Reads the address of a caller according to `http.trusted_proxies`. */
  readAddress: AddressReader
  refusals: RefusalCounter
  streams: StreamHost
  /** Limits the requests that read a whole repository. */
  repositoryGate: Gate
}

/**
 * The variables of one request. `user` and `address` are set by `requireUser` and the role gates, and missing without
 * them. `peer` is the remote address of the connection, which only the server knows.
 */
export interface AppEnv {
  Bindings: { peer?: string | null }
  Variables: {
    platform: Platform
    log: Logger
    user: User
    /** The address of the caller; null when unknown. */
    address: string | null
  }
}
