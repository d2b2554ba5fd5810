import type { RefusalCounter } from '../src/access/audit/refusals.ts'
import type { createAuthenticator } from '../src/access/authenticate.ts'
import type { createAddressReader } from '../src/access/caller-address.ts'
import type { User } from '../src/access/users.ts'
import type { Gate } from '../src/base/gate.ts'
import type { Logger } from '../src/base/log.ts'
import type { Context } from '../src/context.ts'
import type { ConsoleFiles } from '../src/data/console-files.ts'
import type { EventHub } from '../src/events/hub.ts'
import type { StreamHost } from '../src/events/sse-stream.ts'

/** The context of the core, with additions for its HTTP interface. */
export interface CoreContext extends Context {
  events: EventHub
  /** Passed in by the process, which flushes it at shutdown; by default the application creates its own. */
  refusals?: RefusalCounter
  /** Reads a file of the documentation pages by name; null when there is no such file. */
  asset: (name: string) => Promise<{ body: Uint8Array<ArrayBuffer>; content_type: string } | null>
  /** The class of JSON answers, if the server of the runtime has one that takes less work than `Response`. */
  Response?: typeof Response
  /** The built console; absent if it is disabled or was not built. */
  console?: ConsoleFiles | null
}

/** The services that requests share. */
export interface Platform extends CoreContext {
  authenticate: ReturnType<typeof createAuthenticator>
  /** Reads the address of a caller according to `http.trusted_proxies`. */
  readAddress: ReturnType<typeof createAddressReader>
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
    /** Headers that every answer carries, by lower-case name. */
    headers: Record<string, string>
    /** True if the answer has them already. */
    hasHeaders: boolean
    /** The template of the path, set by endpoints. */
    template: string
    user: User
    /** The address of the caller; null when unknown. */
    address: string | null
  }
}
