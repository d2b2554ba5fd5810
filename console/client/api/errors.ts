import { parseJson } from '../json.ts'

/** One entry of a 422 answer: its place in the request, and the broken rule. */
interface Problem {
  loc: (string | number)[]
  msg: string
}

/** An answer other than success. `message` is a sentence that may be shown. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** The problems of a 422 answer; empty for any other. */
  readonly problems: Problem[]
  constructor(status: number, message: string, problems: Problem[] = []) {
    super(message)
    this.status = status
    this.problems = problems
  }
}

/** A failure to reach the platform, or to get its answer in time. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  constructor(options?: ErrorOptions) {
    super('The platform cannot be reached.', options)
  }
}

/** A failure of the sign-in at the identity provider. `message` is a sentence that may be shown. */
export class SignInFailed extends Error {
  override name = 'SignInFailed'
}

/** Reads the envelope `{"detail": …}` of an error. Tolerates the answers of proxies, which have other bodies. */
export function toApiError(status: number, text: string): ApiError {
  const detail = (parseJson(text) as { detail?: unknown } | null | undefined)?.detail
  const problems = Array.isArray(detail) ? detail.filter(isProblem) : []
  const message = Array.isArray(detail) ? problems.map(({ msg }) => msg).join(' ') : detail
  const isSentence = typeof message === 'string' && message !== ''
  return new ApiError(status, isSentence ? message : `The platform answered ${status}.`, problems)
}

const isProblem = (entry: unknown): entry is Problem => {
  const { loc, msg } = (entry ?? {}) as Partial<Problem>
  return Array.isArray(loc) && typeof msg === 'string'
}

/** Returns the problems of a 422 answer by the last name in their place (`q`); those of no field are under ''. */
export function problemsByField(error: unknown): Record<string, string> {
  const fields: Record<string, string> = {}
  if (!(error instanceof ApiError)) return fields
  for (const { loc, msg } of error.problems) {
    const name = loc.findLast((part) => typeof part === 'string' && part !== 'body') ?? ''
    fields[name] = fields[name] ? `${fields[name]} ${msg}` : msg
  }
  return fields
}

/** Returns a sentence for anything that was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof Unreachable || error instanceof SignInFailed
    ? error.message
    : 'Something went wrong in this page.'
