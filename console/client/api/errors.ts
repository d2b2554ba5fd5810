/** One entry of a 422 answer: where it is in the request, and which rule is broken. */
interface Problem {
  loc: (string | number)[]
  msg: string
}

/** An answer that is no success. `message` is a sentence that may be shown. */
export class ApiError extends Error {
  readonly status: number
  /** Of a 422 answer; empty for every other one. */
  readonly problems: Problem[]
  constructor(status: number, message: string, problems: Problem[] = []) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.problems = problems
  }
}

/** The platform could not be reached, or it did not answer in time. */
export class Unreachable extends Error {
  constructor(options?: ErrorOptions) {
    super('The platform cannot be reached.', options)
    this.name = 'Unreachable'
  }
}

/** The identity provider did not sign somebody in. `message` is a sentence that may be shown. */
export class SignInFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SignInFailed'
  }
}

/** Reads the envelope `{"detail": …}` of every error; tolerates answers of proxies, which have other bodies. */
export function toApiError(status: number, text: string): ApiError {
  const detail = readDetail(text)
  const problems = Array.isArray(detail) ? detail.filter(isProblem) : []
  const message = Array.isArray(detail) ? problems.map(({ msg }) => msg).join(' ') : detail
  const isSentence = typeof message === 'string' && message !== ''
  return new ApiError(status, isSentence ? message : `The platform answered ${status}.`, problems)
}

function readDetail(text: string): unknown {
  try {
    return (JSON.parse(text) as { detail?: unknown } | null)?.detail
  } catch {
    return undefined
  }
}

const isProblem = (entry: unknown): entry is Problem => {
  const { loc, msg } = (entry ?? {}) as Partial<Problem>
  return Array.isArray(loc) && typeof msg === 'string'
}

/** The problems of a 422 answer by the last name in their place: `q`, `repo_uri`. Problems of no field are under ''. */
export function problemsByField(error: unknown): Record<string, string> {
  const fields: Record<string, string> = {}
  if (!(error instanceof ApiError)) return fields
  for (const { loc, msg } of error.problems) {
    const name = loc.findLast((part) => typeof part === 'string' && part !== 'body') ?? ''
    fields[name] = fields[name] ? `${fields[name]} ${msg}` : msg
  }
  return fields
}

/** A sentence for whatever was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof Unreachable || error instanceof SignInFailed
    ? error.message
    : 'Something went wrong in this page.'
