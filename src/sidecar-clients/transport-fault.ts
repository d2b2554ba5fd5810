import { badGateway, gatewayTimeout, type PlatformError } from '../base/errors.ts'
import { OutboundError } from '../base/http.ts'

/**
 * The platform's error for a call that got no usable answer: 504 after a timeout, else 502.
 * A cancelled call is rethrown as it is: whoever cancelled knows.
 */
export function transportFault(service: string, error: unknown): PlatformError {
  if (!(error instanceof OutboundError) || error.kind === 'aborted') throw error
  if (error.kind === 'timeout') return gatewayTimeout(`${service} service timed out: ${error.message}`, error)
  if (error.kind === 'network') return badGateway(`${service} service unreachable: ${error.message}`, error)
  return unexpectedAnswer(service, error.message, error)
}

/** What the sidecar said stays in the log: it may hold paths and addresses of its machine. */
export const unexpectedAnswer = (service: string, what: string, cause?: unknown): PlatformError =>
  badGateway(`${service} service returned an unexpected response: ${what}`, cause)
