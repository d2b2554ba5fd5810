import type { OidcConfig } from '../../config/types.ts'
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
  // The claims of a token that is verified again are the same object.
  const identities = new WeakMap<Claims, Identity>()
  const identityOf = (claims: Claims): Identity => {
    const identity = identities.get(claims) ?? toIdentity(claims, config.admin.default_root_email, config.oidc)
    identities.set(claims, identity)
    return identity
  }
  const verify = config.oidc.issuer_url === '' ? null : createTokenVerifier(config.oidc, context)
  return async (authorization: string | null, address?: string | null): Promise<User> => {
    if (!verify) return resolveUser(sql, LOCAL_DEVELOPER, address)
    const token = bearerToken(authorization)
    if (token === null) throw notAuthenticated()
    return resolveUser(sql, identityOf(await verify(token)), address)
  }
}

const SCHEME = 'bearer '

/** Returns the token of an `Authorization: Bearer …` header; null without a token or with another scheme. */
export function bearerToken(authorization: string | null): string | null {
  const text = (authorization ?? '').trim()
  const token = text.slice(SCHEME.length).replace(/^ +/, '')
  return text.slice(0, SCHEME.length).toLowerCase() === SCHEME && token !== '' ? token : null
}

/** The identity of every request while authentication is disabled. It has the roles devops and panel admin. */
const LOCAL_DEVELOPER: Identity = {
  issuer: 'urn:platform:dev',
  subject: 'dev',
  email: 'dev@platform.local',
  display_name: 'Local Developer',
  elevated: true,
}

type Naming = Pick<OidcConfig, 'subject_claim' | 'email_claim' | 'email_verified_claim' | 'require_verified_email'>

/**
 * Maps the claims of a verified token to an identity. An issuer with and without a trailing slash is the same issuer.
 * @param rootEmail `admin.default_root_email`; no user is elevated when it is blank
 * @param naming which claims are the user, the e-mail and its verification. With `require_verified_email`, only an e-mail whose
 * verification is the boolean true counts
 */
export function toIdentity(claims: Claims, rootEmail: string, naming: Naming): Identity {
  const strict = naming.require_verified_email
  const email = nonBlankText(claims[naming.email_claim])
  const verified = claims[naming.email_verified_claim]
  const named = email ?? (strict ? null : nonBlankText(claims.preferred_username))
  const denied = strict
    ? verified !== true || named === null
    : verified !== undefined && verified !== true && verified !== 'true'
  const withdrawn = denied || (named !== null && isReserved(named))
  const root = rootEmail.trim().toLowerCase()
  return {
    issuer: claims.iss.replace(/\/+$/, ''),
    subject: String(claims[naming.subject_claim]),
    email: withdrawn ? null : named,
    email_withdrawn: withdrawn,
    display_name: nonBlankText(claims.name),
    // Only an address whose verification is the boolean true: users may choose the other claims themselves.
    elevated: root !== '' && verified === true && email?.trim().toLowerCase() === root,
  }
}

const nonBlankText = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : null)
