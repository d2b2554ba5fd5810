import type { Authenticate } from '../src/access/authenticate.ts'
import type { User } from '../src/access/users.ts'
import type { Gate } from '../src/base/gate.ts'
import type { Logger } from '../src/base/log.ts'
import type { StreamHost } from '../src/sessions/events/stream.ts'
import type { CoreContext } from './context.ts'

/** What the application shares between requests. */
export interface Platform extends CoreContext {
  authenticate: Authenticate
  streams: StreamHost
  /** Through it go the requests that read a whole repository. */
  repositoryGate: Gate
}

/** The variables of one request. `user` is set by `requireUser` and the gates for roles, and missing without them. */
export interface AppEnv {
  Variables: {
    platform: Platform
    log: Logger
    user: User
  }
}
