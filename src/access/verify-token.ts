import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { OidcConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { createKeySet, keySetReader } from './signing-keys.ts'
import { invalidToken, reasonOf } from './unauthorized.ts'

/** Asymmetric signatures only: a public key must never serve as a shared secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']
/** Servers take about as much in all headers together. */
const MAX_LENGTH = 16 * 1024
/** The compact form and nothing else: no blanks, no padding, no second token. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** Claims of a token that passed every check. */
export type VerifyToken = (token: string) => Promise<JWTPayload & { iss: string; sub: string }>

/**
 * Verifies signature, issuer, audience and times of a bearer token against the key set of the
 * configured issuer, which is discovered on first use.
 * Errors: `Unauthorized`, also when the issuer cannot be reached.
 */
export function createTokenVerifier(oidc: OidcConfig, dependencies: { fetch: Fetch; now: () => Date }): VerifyToken {
  const now = () => dependencies.now().getTime()
  const keys = createKeySet(keySetReader(oidc.issuer_url, dependencies.fetch), now)
  const verified = createVerifiedTokens<Awaited<ReturnType<VerifyToken>>>(now, oidc.clock_skew_seconds)
  return async (token) => {
    const before = keys.current()
    const known = verified.find(token, before)
    if (known) return known
    try {
      refuseUnread(token)
      const payload = await verify(token, keys, oidc, dependencies.now())
      checkIssuedAt(payload, oidc, dependencies.now())
      const claims = named(payload)
      verified.add(token, claims, { before, after: keys.current() })
      return claims
    } catch (error) {
      throw reasonOf(error)
    }
  }
}

/** Before any request leaves for the issuer: garbage must not cost it a call. */
function refuseUnread(token: string): void {
  if (token.length > MAX_LENGTH) throw invalidToken('token is too long')
  if (!COMPACT.test(token)) throw invalidToken('token is malformed')
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

/** The library sees that both are there, not what they are. */
function named(payload: JWTPayload): JWTPayload & { iss: string; sub: string } {
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
 * Remembers tokens whose signature was checked, so that the next request with the same token is spared
 * the check. What passes is the same as without it: a token is found only while the very key set that
 * verified it is in use, until it expires, and not before the moment at which it was verified.
 * @param now milliseconds
 */
function createVerifiedTokens<Claims extends JWTPayload>(now: () => number, toleranceS: number) {
  const known = new Map<string, Entry<Claims>>()
  return {
    /** @param keys the key set in use; null when it has to be read again */
    find(token: string, keys: object | null): Claims | null {
      const entry = known.get(token)
      if (!entry) return null
      const expiresMs = ((entry.claims.exp ?? 0) + toleranceS) * 1000
      if (entry.keys === keys && now() >= entry.verifiedAt && now() < expiresMs) return entry.claims
      known.delete(token)
      return null
    },
    /** @param keys those in use before and after the check */
    add(token: string, claims: Claims, keys: { before: object | null; after: object | null }): void {
      if (keys.before === null || keys.before !== keys.after || token.length > MAX_REMEMBERED_LENGTH) return
      if (known.size >= MAX_TOKENS)
        for (const oldest of known.keys()) {
          known.delete(oldest)
          break
        }
      known.set(token, { claims, keys: keys.before, verifiedAt: now() })
    },
  }
}
