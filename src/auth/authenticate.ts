import type { Context } from '../context.ts'
import { resolveUser } from '../users/resolve-user.ts'
import { bearerToken } from './bearer.ts'
import { notAuthenticated } from './errors.ts'
import { identityOf, LOCAL_DEVELOPER } from './identity.ts'
import type { Authenticate } from './types.ts'
import { createTokenVerifier } from './verify-token.ts'

/**
 * With a blank issuer every request is the local developer and the header is ignored; otherwise
 * nobody passes without a valid token.
 */
export function createAuthenticator(context: Pick<Context, 'config' | 'fetch' | 'now' | 'sql'>): Authenticate {
  const { config, sql } = context
  if (config.oidc.issuer_url === '') return () => resolveUser(sql, LOCAL_DEVELOPER)
  const verify = createTokenVerifier(config.oidc, context)
  return async (authorization) => {
    const token = bearerToken(authorization)
    if (token === null) throw notAuthenticated()
    return resolveUser(sql, identityOf(await verify(token), config.admin.default_root_email))
  }
}
