import type { Authenticate } from '../src/access/authenticate.ts'
import type { User } from '../src/access/users.ts'
import type { Logger } from '../src/base/log.ts'
import type { StreamHost } from '../src/sessions/events/stream.ts'
import type { CoreContext } from './context.ts'

/** What the application shares between requests. */
export interface Platform extends CoreContext {
  authenticate: Authenticate
  streams: StreamHost
}

/** Variables of one request. `user` is there behind `requireUser` and the role gates only. */
export interface AppEnv {
  Variables: {
    platform: Platform
    log: Logger
    user: User
  }
}
