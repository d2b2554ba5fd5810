import type { JWTPayload } from 'jose'
import type { Context } from '../context.ts'
import { notAuthenticated } from './unauthorized.ts'
import { type Identity, resolveUser, type User } from './users.ts'
import { createTokenVerifier } from './verify-token.ts'

/**
 * From the value of the Authorization header to the user's row, created on first sight.
 * Errors: `Unauthorized`.
 */
export type Authenticate = (authorization: string | null) => Promise<User>

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

/** The credentials of a Bearer header (scheme in any case); null for another scheme or none. */
export function bearerToken(authorization: string | null): string | null {
  const [scheme, ...rest] = (authorization ?? '').trim().split(/ +/)
  const token = rest.join(' ')
  return scheme?.toLowerCase() === 'bearer' && token !== '' ? token : null
}

/** The fixed identity while authentication is disabled. Always devops and panel admin. */
const LOCAL_DEVELOPER: Identity = {
  issuer: 'urn:platform:dev',
  subject: 'dev',
  email: 'dev@platform.local',
  display_name: 'Local Developer',
  elevated: true,
}

/**
 * Who a verified token stands for. Both spellings of the issuer are one user.
 * @param rootEmail `admin.default_root_email`; blank elevates nobody
 */
export const identityOf = (claims: JWTPayload & { iss: string; sub: string }, rootEmail: string): Identity => ({
  issuer: claims.iss.replace(/\/+$/, ''),
  subject: claims.sub,
  email: text(claims.email) ?? text(claims.preferred_username),
  display_name: text(claims.name),
  elevated: isRoot(claims, rootEmail),
})

/** Only the provider's own `email` counts, and only with a verification that is literally true. */
function isRoot(claims: JWTPayload, rootEmail: string): boolean {
  const root = rootEmail.trim().toLowerCase()
  return root !== '' && claims.email_verified === true && text(claims.email)?.trim().toLowerCase() === root
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : null)
