import { compactVerify, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import type { OidcConfig } from '../../config/types.ts'
import { PlatformError } from '../base/errors.ts'
import type { Fetch } from '../base/http.ts'
import { isJsonObject } from '../base/json.ts'
import { createIssuerKeys } from './issuer.ts'
import { checkContent, type TokenContent } from './token-checks.ts'

/**
 * Asymmetric algorithms only. With a shared-secret one, anyone could sign a token with the issuer's public key. A
 * runtime may lack the last ones; tokens signed with them are then not supported.
 */
export const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
  ...['Ed25519', 'EdDSA', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
]
/** Web servers limit all headers together to about this size, so no legitimate token is longer. */
const MAX_TOKEN_LENGTH = 16 * 1024
/** The compact form of a JWT: three base64url parts without blanks or padding. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/

export type Claims = JWTPayload & { iss: string }

export type VerifyToken = ReturnType<typeof createTokenVerifier>

type IssuerKeys = ReturnType<typeof createIssuerKeys>

/**
 * Makes a function that verifies a bearer token and returns its claims. The issuer's keys are read on first use. Throws
 * `Unauthorized`, also when the issuer cannot be reached.
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
      const content = await readSigned(token, keys)
      for (const { name, expected, refusal } of checkContent(content, oidc, now() / 1000))
        if (refusal !== null) throw invalidToken(refusal, new Error(`${name}: accepted is ${expected}`))
      const claims: Claims = { ...content.claims, iss: String(content.claims.iss) }
      verifiedTokens.add(token, claims, { before, after: keys.current() })
      return claims
    } catch (error) {
      throw error instanceof Unauthorized ? error : invalidToken(describeReason(error), withoutClaims(error))
    }
  }
}

/** Rejects a token that cannot be valid before the issuer's keys are read, so that garbage causes no request. */
export function assertReadable(token: string): void {
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

/** Verifies the signature of a token and returns what it says. Throws the errors of the library and of the issuer. */
export async function readSigned(token: string, keys: IssuerKeys): Promise<TokenContent> {
  const { payload, protectedHeader: header } = await verifySignature(token, keys)
  return { header, claims: parseClaims(payload), keyOwners: keys.ownersOf(header.kid) }
}

/** Throws when the payload is no JSON object in UTF-8. */
function parseClaims(payload: Uint8Array): TokenContent['claims'] {
  let claims: unknown
  try {
    claims = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch {
    throw invalidToken('token is malformed')
  }
  if (!isJsonObject(claims)) throw invalidToken('token is malformed')
  return claims
}

async function verifySignature(token: string, keys: IssuerKeys) {
  const options = { algorithms: [...ALGORITHMS] }
  try {
    return await compactVerify(token, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const verified = await compactVerify(token, key, options).catch((failure: unknown) => {
        if (failure instanceof errors.JWSSignatureVerificationFailed) return null
        throw failure
      })
      if (verified) return verified
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
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
  /** Why a token is refused; empty when there is none. */
  readonly reason: string
  constructor(message: string, challenge: string, { cause, reason = '' }: { cause?: unknown; reason?: string } = {}) {
    super('Unauthorized', 401, message, { cause })
    this.challenge = challenge
    this.reason = reason
  }
}

export const notAuthenticated = () => new Unauthorized('Not authenticated', 'Bearer')

/** @param reason a short text that clients may rely on; the text of a library belongs in `cause` */
const invalidToken = (reason: string, cause?: unknown) =>
  new Unauthorized(`Token validation failed: ${reason}`, INVALID_TOKEN, { cause, reason })

/** Returns the stable short reason for an error of the token library. */
export function describeReason(error: unknown): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature does not match'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'signing key is unknown'
  if (error instanceof errors.JWSInvalid) return 'token is malformed'
  if (error instanceof errors.JOSENotSupported || isNotSupported(error)) return 'token is not supported'
  return 'the keys of the identity provider could not be read'
}

/** True for the error of a runtime that lacks an algorithm. */
const isNotSupported = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotSupportedError'

/** Errors of the library contain the token's claims, which must not be logged: only their code and text remain. */
function withoutClaims(error: unknown): Error {
  if (!(error instanceof errors.JOSEError)) return error instanceof Error ? error : new Error('unknown')
  return new Error(`${error.code}: ${error.message}`)
}
