import type { JWTPayload } from 'jose'
import type { Context } from '../context.ts'
import { isReserved } from './audit/record.ts'
import { type Identity, resolveUser, type User } from './users.ts'
import { type Claims, createTokenVerifier, notAuthenticated } from './verify-token.ts'

/**
 * Makes the configured authenticator. If `oidc.issuer_url` is blank, the header is ignored and every request runs as
 * the local developer; otherwise every request needs a valid token.
 * @returns a function that returns the user of an `Authorization` header, creating the row of a new user. It takes the
 * source address of the request for the audit record, and throws `Unauthorized`
 */
export function createAuthenticator(context: Pick<Context, 'config' | 'fetch' | 'now' | 'sql'>) {
  const { config, sql } = context
  const verify = config.oidc.issuer_url === '' ? null : createTokenVerifier(config.oidc, context)
  return async (authorization: string | null, address?: string | null): Promise<User> => {
    if (!verify) return resolveUser(sql, LOCAL_DEVELOPER, address)
    const token = bearerToken(authorization)
    if (token === null) throw notAuthenticated()
    return resolveUser(sql, toIdentity(await verify(token), config.admin.default_root_email, config.oidc), address)
  }
}

/** Returns the token of an `Authorization: Bearer …` header; null without a token or with another scheme. */
export function bearerToken(authorization: string | null): string | null {
  const [scheme, ...rest] = (authorization ?? '').trim().split(/ +/)
  const token = rest.join(' ')
  return scheme?.toLowerCase() === 'bearer' && token !== '' ? token : null
}

/** The identity of every request while authentication is disabled. It has the roles devops and panel admin. */
const LOCAL_DEVELOPER: Identity = {
  issuer: 'urn:platform:dev',
  subject: 'dev',
  email: 'dev@platform.local',
  display_name: 'Local Developer',
  elevated: true,
}

/**
 * Maps the claims of a verified token to an identity. An issuer with and without a trailing slash is the same issuer.
 * @param rootEmail `admin.default_root_email`; no user is elevated when it is blank
 * @param strict if true, only the claim `email` of a token with `email_verified: true` is an e-mail
 */
export function toIdentity(
  claims: Claims,
  rootEmail: string,
  { require_verified_email: strict } = { require_verified_email: false },
): Identity {
  const { email_verified: verified } = claims
  const named = nonBlankText(claims.email) ?? (strict ? null : nonBlankText(claims.preferred_username))
  const denied = strict
    ? verified !== true || named === null
    : verified !== undefined && verified !== true && verified !== 'true'
  const withdrawn = denied || (named !== null && isReserved(named))
  return {
    issuer: claims.iss.replace(/\/+$/, ''),
    subject: claims.sub,
    email: withdrawn ? null : named,
    email_withdrawn: withdrawn,
    display_name: nonBlankText(claims.name),
    elevated: isRoot(claims, rootEmail),
  }
}

/**
 * True if the token belongs to the configured root user. Only the claim `email` counts, and only if `email_verified` is
 * the boolean true: users may choose the other claims themselves.
 */
function isRoot(claims: JWTPayload, rootEmail: string): boolean {
  const root = rootEmail.trim().toLowerCase()
  return root !== '' && claims.email_verified === true && nonBlankText(claims.email)?.trim().toLowerCase() === root
}

const nonBlankText = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : null)
