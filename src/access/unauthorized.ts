import { errors } from 'jose'
import { PlatformError } from '../base/errors.ts'

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
export const invalidToken = (reason: string, cause?: unknown) =>
  new Unauthorized(`Token validation failed: ${reason}`, INVALID_TOKEN, cause)

const CLAIM_REASONS: ReadonlyMap<string, string> = new Map([
  ['aud', 'audience is not accepted'],
  ['iss', 'issuer is not accepted'],
  ['nbf', 'token is not yet valid'],
])

/**
 * Converts an error of the token library into a 401 with a stable short reason. Errors of the library contain the
 * token's claims, which must not be logged, so `cause` has only the code and text of the error.
 */
export function toUnauthorized(error: unknown): Unauthorized {
  if (error instanceof Unauthorized) return error
  return invalidToken(describeReason(error), withoutClaims(error))
}

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

function withoutClaims(error: unknown): Error {
  if (!(error instanceof errors.JOSEError)) return error instanceof Error ? error : new Error('unknown')
  return new Error(`${error.code}: ${error.message}`)
}
