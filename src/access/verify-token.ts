import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { OidcConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { createIssuerKeys } from './issuer.ts'
import { invalidToken, toUnauthorized } from './unauthorized.ts'

/**
 * Only algorithms with a private and a public key. With a shared-secret algorithm anybody could sign a token with
 * the public key of the issuer.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']
/** Web servers accept about this much in all headers together, so no honest client has a longer token. */
const MAX_TOKEN_LENGTH = 16 * 1024
/** The compact form of a JWT: three parts in base64url, without blanks, padding or anything after it. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** Checks a token and answers its claims. Errors: `Unauthorized`. */
export type VerifyToken = (token: string) => Promise<JWTPayload & { iss: string; sub: string }>

/**
 * Makes a function that verifies signature, issuer, audience and times of a bearer token. The keys of the configured
 * issuer are read on first use.
 * Errors: `Unauthorized`, also when the issuer cannot be reached.
 */
export function createTokenVerifier(oidc: OidcConfig, dependencies: { fetch: Fetch; now: () => Date }): VerifyToken {
  const now = () => dependencies.now().getTime()
  const keys = createIssuerKeys(oidc.issuer_url, dependencies.fetch)
  const verifiedTokens = createVerifiedTokens<Awaited<ReturnType<VerifyToken>>>(now, oidc.clock_skew_seconds)
  return async (token) => {
    const before = keys.current()
    const remembered = verifiedTokens.find(token, before)
    if (remembered) return remembered
    try {
      assertReadable(token)
      const payload = await verify(token, keys, oidc, dependencies.now())
      checkIssuedAt(payload, oidc, dependencies.now())
      const claims = withIssuerAndSubject(payload)
      verifiedTokens.add(token, claims, { before, after: keys.current() })
      return claims
    } catch (error) {
      throw toUnauthorized(error)
    }
  }
}

/** Refuses a token that cannot be valid before the issuer is asked for its keys, so that garbage causes no request. */
function assertReadable(token: string): void {
  if (token.length > MAX_TOKEN_LENGTH) throw invalidToken('token is too long')
  if (!COMPACT_FORM.test(token)) throw invalidToken('token is malformed')
  let algorithm: unknown
  try {
    algorithm = decodeProtectedHeader(token).alg
  } catch {
    throw invalidToken('token is malformed')
  }
  if (typeof algorithm !== 'string' || !ALGORITHMS.includes(algorithm)) throw invalidToken('algorithm is not allowed')
}

async function verify(token: string, keys: JWTVerifyGetKey, oidc: OidcConfig, now: Date): Promise<JWTPayload> {
  const options = {
    algorithms: ALGORITHMS,
    issuer: [oidc.issuer_url, `${oidc.issuer_url}/`],
    audience: oidc.audience ? [oidc.audience] : [oidc.client_id, `api://${oidc.client_id}`],
    clockTolerance: oidc.clock_skew_seconds,
    requiredClaims: ['exp', 'iss', 'sub'],
    currentDate: now,
  }
  try {
    return (await jwtVerify(token, keys, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch((failure: unknown) => {
        if (failure instanceof errors.JWSSignatureVerificationFailed) return null
        throw failure
      })
      if (verified) return verified.payload
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function checkIssuedAt(payload: JWTPayload, oidc: OidcConfig, now: Date): void {
  if (payload.iat !== undefined && payload.iat > now.getTime() / 1000 + oidc.clock_skew_seconds)
    throw invalidToken('token was issued in the future')
}

/** Checks that issuer and subject are texts. The library has checked only that both claims are present. */
function withIssuerAndSubject(payload: JWTPayload): JWTPayload & { iss: string; sub: string } {
  const { iss, sub } = payload
  if (typeof iss !== 'string') throw invalidToken('claim iss is not valid')
  if (typeof sub !== 'string' || sub.trim() === '') throw invalidToken('claim sub is not valid')
  return { ...payload, iss, sub }
}

const MAX_TOKENS = 2_000
const MAX_REMEMBERED_LENGTH = 4_096

interface Entry<Claims> {
  claims: Claims
  /** The key set under which the signature was checked. */
  keys: object
  verifiedAt: number
}

/**
 * Remembers tokens that were verified, so that the next request with the same token does not need the costly check
 * of the signature. A token is accepted exactly when it would be without this memory: it must not have expired, and
 * the key set that verified it must still be in use. A clock that was set back makes it be verified again.
 * @param now milliseconds
 */
function createVerifiedTokens<Claims extends JWTPayload>(now: () => number, toleranceS: number) {
  const entries = new Map<string, Entry<Claims>>()
  return {
    /**
     * Returns the claims of a remembered token, or null.
     * @param keys the key set in use; null when it has to be read again
     */
    find(token: string, keys: object | null): Claims | null {
      const entry = entries.get(token)
      if (!entry) return null
      const expiresMs = ((entry.claims.exp ?? 0) + toleranceS) * 1000
      if (entry.keys === keys && now() >= entry.verifiedAt && now() < expiresMs) return entry.claims
      entries.delete(token)
      return null
    },
    /**
     * Remembers a verified token, unless the keys were read again during the check: then it is not known which
     * set has verified it.
     * @param keys the key set in use before and after the check
     */
    add(token: string, claims: Claims, keys: { before: object | null; after: object | null }): void {
      if (keys.before === null || keys.before !== keys.after || token.length > MAX_REMEMBERED_LENGTH) return
      if (entries.size >= MAX_TOKENS)
        for (const oldest of entries.keys()) {
          entries.delete(oldest)
          break
        }
      entries.set(token, { claims, keys: keys.before, verifiedAt: now() })
    },
  }
}
