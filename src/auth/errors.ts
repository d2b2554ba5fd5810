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
