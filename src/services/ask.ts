import * as v from 'valibot'
import type { ServiceConfig } from '../../config/types.ts'
import { badGateway, gatewayTimeout, type PlatformError } from '../base/errors.ts'
import { type Fetch, OutboundError, type OutboundResponse, send } from '../base/http.ts'

const MAX_BYTES = 1024 * 1024

export interface Question<Schema extends v.GenericSchema> {
  /** As it appears in error texts. */
  name: string
  service: Pick<ServiceConfig, 'endpoint' | 'token'>
  path: string
  json: unknown
  /** The whole budget, in milliseconds. */
  timeout_ms: number
  answer: Schema
}

/**
 * Posts one question to a sidecar; answers what its contract promises.
 * Errors: 504 `<name> service timed out: …`; 502 `<name> service unreachable: …` and, for any status
 * but 200 and any body off contract, `<name> service returned an unexpected response: …`.
 */
export async function ask<Schema extends v.GenericSchema>(
  fetcher: Fetch,
  { name, service, path, json, timeout_ms, answer }: Question<Schema>,
): Promise<v.InferOutput<Schema>> {
  if (service.endpoint === '') throw badGateway(`${name} service unreachable: services.${name}.endpoint is empty`)
  const response = await send(fetcher, {
    url: `${service.endpoint}${path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}` },
    json,
    timeout_ms,
    max_bytes: MAX_BYTES,
  }).catch((error: unknown) => {
    throw transportFault(name, error)
  })
  if (response.status !== 200) throw unexpectedAnswer(name, `HTTP ${response.status}`)
  const read = v.safeParse(answer, parsed(name, response))
  if (!read.success)
    throw unexpectedAnswer(name, 'a body that does not follow the contract', new v.ValiError(read.issues))
  return read.output
}

function parsed(name: string, response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch (error) {
    throw transportFault(name, error)
  }
}

/** Text of a contract: well-formed, and as long as it says, in characters. */
export const contractText = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text'),
    v.check(
      (text) => text.length >= min && (text.length <= max || [...text].length <= max),
      `must have ${min} to ${max} characters`,
    ),
  )

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
