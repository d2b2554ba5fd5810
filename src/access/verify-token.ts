import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { OidcConfig } from '../../config/types.ts'
import { PlatformError } from '../base/errors.ts'
import type { Fetch } from '../base/http.ts'
import { createIssuerKeys } from './issuer.ts'

/** Asymmetric algorithms only. With a shared-secret one, anyone could sign a token with the issuer's public key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']
/** Web servers limit all headers together to about this size, so no legitimate token is longer. */
const MAX_TOKEN_LENGTH = 16 * 1024
/** The compact form of a JWT: three base64url parts without blanks or padding. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/

export type Claims = JWTPayload & { iss: string; sub: string }

export type VerifyToken = ReturnType<typeof createTokenVerifier>

/**
 * Makes a function that verifies signature, issuer, audience and times of a bearer token and returns its claims. The
 * issuer's keys are read on first use. Throws `Unauthorized`, also when the issuer cannot be reached.
 */
export function createTokenVerifier(oidc: OidcConfig, dependencies: { fetch: Fetch; now: () => Date }) {
  const now = () => dependencies.now().getTime()
  const keys = createIssuerKeys(oidc.issuer_url, dependencies.fetch)
  const verifiedTokens = createVerifiedTokens(now, oidc.clock_skew_seconds)
  return async (token: string): Promise<Claims> => {
    const before = keys.current()
    const remembered = verifiedTokens.find(token, before)
    if (remembered) return remembered
    try {
      assertReadable(token)
      const payload = await verify(token, keys, oidc, dependencies.now())
      if (payload.iat !== undefined && payload.iat > now() / 1000 + oidc.clock_skew_seconds)
        throw invalidToken('token was issued in the future')
      const claims = withIssuerAndSubject(payload)
      verifiedTokens.add(token, claims, { before, after: keys.current() })
      return claims
    } catch (error) {
      throw error instanceof Unauthorized ? error : invalidToken(describeReason(error), withoutClaims(error))
    }
  }
}

/** Rejects a token that cannot be valid before the issuer's keys are read, so that garbage causes no request. */
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

/** Checks that issuer and subject are texts. The library only checks that both claims are present. */
function withIssuerAndSubject(payload: JWTPayload): Claims {
  const { iss, sub } = payload
  if (typeof iss !== 'string') throw invalidToken('claim iss is not valid')
  if (typeof sub !== 'string' || sub.trim() === '') throw invalidToken('claim sub is not valid')
  return { ...payload, iss, sub }
}

const MAX_TOKENS = 2_000
const MAX_REMEMBERED_LENGTH = 4_096

/**
 * Caches verified tokens, so that the signature is not checked on every request. A cached token is accepted only while
 * it has not expired and the key set that verified it is still in use. It is verified again if the clock was set back.
 * @param now milliseconds
 */
function createVerifiedTokens(now: () => number, toleranceS: number) {
  /** `keys` is the key set that verified the signature. */
  const entries = new Map<string, { claims: Claims; keys: object; verifiedAt: number }>()
  return {
    /**
     * Returns the claims of a cached token, or null.
     * @param keys the key set in use; null when it has to be reloaded
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
     * Adds a verified token, unless the keys were reloaded during the check: then the key set that verified it is
     * unknown.
     * @param keys the key set in use before and after the check
     */
    add(token: string, claims: Claims, keys: { before: object | null; after: object | null }): void {
      if (keys.before === null || keys.before !== keys.after || token.length > MAX_REMEMBERED_LENGTH) return
      const [oldest = ''] = entries.keys()
      if (entries.size >= MAX_TOKENS) entries.delete(oldest)
      entries.set(token, { claims, keys: keys.before, verifiedAt: now() })
    },
  }
}

export const INVALID_TOKEN = 'Bearer error="invalid_token"'

/** Error 401; `challenge` is the value of the `WWW-Authenticate` header. */
export class Unauthorized extends PlatformError {
  readonly challenge: string
  constructor(message: string, challenge: string, cause?: unknown) {
    super('Unauthorized', 401, message, { cause })
    this.challenge = challenge
  }
}

export const notAuthenticated = () => new Unauthorized('Not authenticated', 'Bearer')

/** @param reason a short text that clients may rely on; the text of a library belongs in `cause` */
const invalidToken = (reason: string, cause?: unknown) =>
  new Unauthorized(`Token validation failed: ${reason}`, INVALID_TOKEN, cause)

const CLAIM_REASONS: ReadonlyMap<string, string> = new Map([
  ['aud', 'audience is not accepted'],
  ['iss', 'issuer is not accepted'],
  ['nbf', 'token is not yet valid'],
])

/** Returns the stable short reason for an error of the token library. */
function describeReason(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return `claim ${error.claim} is missing`
    return (error.reason === 'check_failed' && CLAIM_REASONS.get(error.claim)) || `claim ${error.claim} is not valid`
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature does not match'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'signing key is unknown'
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'token is malformed'
  if (error instanceof errors.JOSENotSupported) return 'token is not supported'
  return 'the keys of the identity provider could not be read'
}

/** Errors of the library contain the token's claims, which must not be logged: only their code and text remain. */
function withoutClaims(error: unknown): Error {
  if (!(error instanceof errors.JOSEError)) return error instanceof Error ? error : new Error('unknown')
  return new Error(`${error.code}: ${error.message}`)
}
