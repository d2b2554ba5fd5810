import { errors } from 'jose'
import { PlatformError } from '../base/errors.ts'

export const INVALID_TOKEN = 'Bearer error="invalid_token"'

/** 401 with the challenge for `WWW-Authenticate`. */
export class Unauthorized extends PlatformError {
  readonly challenge: string
  constructor(message: string, challenge: string, cause?: unknown) {
    super('Unauthorized', 401, message, { cause })
    this.challenge = challenge
  }
}

export const notAuthenticated = () => new Unauthorized('Not authenticated', 'Bearer')

/** @param reason short and stable; what a library said belongs into `cause` */
export const invalidToken = (reason: string, cause?: unknown) =>
  new Unauthorized(`Token validation failed: ${reason}`, INVALID_TOKEN, cause)

const CLAIMS: Record<string, string> = {
  aud: 'audience is not accepted',
  iss: 'issuer is not accepted',
  nbf: 'token is not yet valid',
}

/**
 * Maps what a library threw to a short reason that stays the same across versions. The cause kept for
 * the log has no more than code and text: the library's errors carry the claims of the token.
 */
export function reasonOf(error: unknown): Unauthorized {
  if (error instanceof Unauthorized) return error
  return invalidToken(text(error), bare(error))
}

function text(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return `claim ${error.claim} is missing`
    return (error.reason === 'check_failed' && CLAIMS[error.claim]) || `claim ${error.claim} is not valid`
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature does not match'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'signing key is unknown'
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'token is malformed'
  if (error instanceof errors.JOSENotSupported) return 'token is not supported'
  return 'the keys of the identity provider could not be read'
}

function bare(error: unknown): Error {
  if (!(error instanceof errors.JOSEError)) return error instanceof Error ? error : new Error('unknown')
  return new Error(`${error.code}: ${error.message}`)
}
