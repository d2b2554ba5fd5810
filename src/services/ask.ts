import * as v from 'valibot'
import type { ServiceConfig } from '../../config/types.ts'
import { badGateway, gatewayTimeout, type PlatformError } from '../base/errors.ts'
import { type Fetch, OutboundError, type OutboundResponse, send } from '../base/http.ts'

const MAX_BYTES = 1024 * 1024

interface Question<Schema extends v.GenericSchema> {
  /** The service's name in error texts. */
  name: string
  service: Pick<ServiceConfig, 'endpoint' | 'token'>
  path: string
  json: unknown
  /** Time limit of the whole call. */
  timeoutMs: number
  answer: Schema
  /** Takes the headers of an answer with status 200. */
  onHeaders?: (headers: Headers) => void
}

/**
 * Posts one request to a sidecar and returns its body, checked against the schema of the sidecar's contract. Throws 504
 * `<name> service timed out: …`; 502 `<name> service unreachable: …` and, for any status but 200 and any body that
 * breaks the contract, `<name> service returned an unexpected response: …`.
 */
export async function ask<Schema extends v.GenericSchema>(
  fetcher: Fetch,
  { name, service, path, json, timeoutMs, answer, onHeaders }: Question<Schema>,
): Promise<v.InferOutput<Schema>> {
  if (service.endpoint === '') throw badGateway(`${name} service unreachable: services.${name}.endpoint is empty`)
  const response = await send(fetcher, {
    url: `${service.endpoint}${path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}` },
    json,
    timeoutMs,
    maxBytes: MAX_BYTES,
  }).catch((error: unknown) => {
    throw transportFault(name, error)
  })
  if (response.status !== 200) throw unexpectedAnswer(name, `HTTP ${response.status}`)
  onHeaders?.(response.headers)
  return readAnswer(name, response, answer, 'a body')
}

/** Checks the body of a response against a contract. Throws 502, whose text names the `part` that breaks it. */
export function readAnswer<Schema extends v.GenericSchema>(
  service: string,
  response: OutboundResponse,
  schema: Schema,
  part: string,
): v.InferOutput<Schema> {
  try {
    return v.parse(schema, response.json())
  } catch (error) {
    if (!v.isValiError(error)) throw transportFault(service, error)
    throw unexpectedAnswer(service, `${part} that does not follow the contract`, error)
  }
}

/** Makes the schema of a contract's text: well-formed Unicode without NUL, with `min` to `max` characters. */
export const contractText = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text'),
    v.check(
      (text) => text.length >= min && (text.length <= max || [...text].length <= max),
      `must have ${min} to ${max} characters`,
    ),
  )

/** Makes the error of a failed call: 504 after a timeout, else 502. The error of a cancelled call is rethrown. */
export function transportFault(service: string, error: unknown): PlatformError {
  if (!(error instanceof OutboundError) || error.kind === 'aborted') throw error
  if (error.kind === 'timeout') return gatewayTimeout(`${service} service timed out: ${error.message}`, error)
  if (error.kind === 'network') return badGateway(`${service} service unreachable: ${error.message}`, error)
  return unexpectedAnswer(service, error.message, error)
}

/** Makes the error for an unexpected response. It never quotes the response, which may contain internal addresses. */
export const unexpectedAnswer = (service: string, what: string, cause?: unknown): PlatformError =>
  badGateway(`${service} service returned an unexpected response: ${what}`, cause)
