import type { User } from '../users/types.ts'

/**
 * From the value of the Authorization header to the user's row, created on first sight.
 * Errors: `Unauthorized`.
 */
export type Authenticate = (authorization: string | null) => Promise<User>
