/**
 * An error of the domain. `code` never changes, `status` is the HTTP status of the response, and `message` may be shown
 * to the caller: it contains no library text, local path or credential. `cause` holds the details, for the log only.
 */
export class PlatformError extends Error {
  readonly code: string
  readonly status: number
  /** Further fields of the response, beside the text. */
  more: object = {}
  /** The header `Retry-After` of the response. */
  readonly retryAfterSeconds: number | undefined
  constructor(
    code: string,
    status: number,
    message: string,
    options?: { cause?: unknown; retryAfterSeconds?: number | undefined },
  ) {
    super(message, options)
    this.name = code
    this.code = code
    this.status = status
    this.retryAfterSeconds = options?.retryAfterSeconds
  }
}

/** The platform is overloaded (503), or the caller has too much open (429). `Retry-After` says when to try again. */
export class Busy extends PlatformError {
  constructor(message: string, retryAfterSeconds: number, status: 429 | 503 = 503) {
    super(status === 429 ? 'TooMany' : 'Unavailable', status, message, { retryAfterSeconds })
  }
}

export const badRequest = (message: string, cause?: unknown) => new PlatformError('BadRequest', 400, message, { cause })
export const forbidden = (message: string) => new PlatformError('Forbidden', 403, message)
export const notFound = (message: string) => new PlatformError('NotFound', 404, message)
export const conflict = (message: string) => new PlatformError('Conflict', 409, message)
export const badGateway = (message: string, cause?: unknown) => new PlatformError('BadGateway', 502, message, { cause })
export const unavailable = (message: string, cause?: unknown) =>
  new PlatformError('Unavailable', 503, message, { cause })
export const gatewayTimeout = (message: string, cause?: unknown) =>
  new PlatformError('GatewayTimeout', 504, message, { cause })
/** Makes a fault of the platform with a text that clients rely on, for example `git clone failed`. */
export const internal = (message: string, cause?: unknown) => new PlatformError('Internal', 500, message, { cause })

export const sessionNotFound = (uuid: string) => notFound(`Session ${uuid} not found.`)
export const DATABASE_AWAY = 'The database cannot be used at the moment. Try again in a few seconds.'
export const REPOSITORY_UNREACHABLE = 'Repository is not reachable or access was denied.'
export const REPOSITORY_EMPTY = 'The repository is empty: push a first commit to its default branch, then ask again.'
export const REPOSITORY_MOVED =
  'The git host says that the repository has another address now, for example because it was renamed: use that one.'
export const DEFAULT_BRANCH_EMPTY =
  'The default branch of the repository has no commit: choose one that has, or push to it, then ask again.'
export const repositoryUnreachable = (cause?: unknown) => badRequest(REPOSITORY_UNREACHABLE, cause)

/** Thrown after a user has cancelled the round. The run stops, and its round ends `uncompleted`. */
export class RoundCancelled extends Error {
  /** E-mail or name of the user who cancelled the round. */
  readonly by: string
  constructor(by: string) {
    super(`the round was cancelled by ${by}`)
    this.name = 'RoundCancelled'
    this.by = by
  }
}

/** Thrown when another worker has taken over the round. The run stops at once and writes nothing. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of this round was taken by another worker')
    this.name = 'LeaseLost'
  }
}
