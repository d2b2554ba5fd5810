import * as v from 'valibot'
import type { GitConfig } from '../../config/types.ts'
import { badGateway, gatewayTimeout, PlatformError } from '../base/errors.ts'
import { basicAuthorization, OutboundError, type OutboundRequest, type OutboundResponse, send } from '../base/http.ts'
import type { HostAccess } from './pull-request-host.ts'

export const CREATE_LATE = 'PR creation timeout'
export const MERGE_LATE = 'Complete PR timeout'
const TIMEOUT_MS = 20_000
const MAX_BYTES = 4 * 1024 * 1024
const MAX_TEXT = 2_000

export interface ProviderRequest
  extends Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body' | 'json' | 'redirect'> {
  signal: AbortSignal
  /** Text of the 504 after a timeout. */
  late: string
}

/** Sends a request to a provider and returns a 2xx response. Errors: those of `PullRequestHost`. */
export async function callProvider(
  access: HostAccess,
  { late, ...request }: ProviderRequest,
): Promise<OutboundResponse> {
  const response = await send(access.fetch, { ...request, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }).catch(
    (error: unknown) => {
      throw transportFault(error, request.signal, late)
    },
  )
  if (response.status >= 400)
    throw new ProviderRefusal(response.status, removeSecrets(access.git, response.text()).slice(0, MAX_TEXT))
  // Azure DevOps answers an unknown token with a sign-in page: 203, or a redirect to it.
  if (response.status >= 300 || response.status === 203)
    throw badGateway(
      `The git provider answered HTTP ${response.status} in place of a result; ` +
        'check the token and the address of its interface.',
    )
  return response
}

function transportFault(error: unknown, signal: AbortSignal, late: string): unknown {
  if (!(error instanceof OutboundError)) return error
  if (error.kind === 'aborted') return signal.reason
  if (error.kind === 'timeout') return gatewayTimeout(late, error)
  return error.kind === 'body' ? unexpectedForm(error) : badGateway('The git provider is not reachable.', error)
}

/** A provider's error text and status. 401, 403 and 407 become 502: clients would end their own login. */
export class ProviderRefusal extends PlatformError {
  readonly providerStatus: number
  constructor(providerStatus: number, text: string) {
    const passes = providerStatus < 600 && ![401, 403, 407].includes(providerStatus)
    super(
      'PullRequestRefused',
      passes ? providerStatus : 502,
      text.trim() || `The git provider answered ${providerStatus}.`,
    )
    this.providerStatus = providerStatus
  }
}

/** Removes the token from a provider's text, because some error pages repeat the request. */
function removeSecrets(git: GitConfig, text: string): string {
  const secrets = [
    git.token,
    encodeURIComponent(git.token),
    ...[git.user, ''].map((user) => basicAuthorization(user, git.token).slice(6)),
  ]
  return secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}

/** Parses and validates a provider's answer. Errors: 502. */
export function readAnswer<Schema extends v.GenericSchema>(
  schema: Schema,
  response: OutboundResponse,
): v.InferOutput<Schema> {
  return checkAnswer(schema, parseBody(response))
}

function parseBody(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch (error) {
    throw unexpectedForm(error)
  }
}

/** Validates a parsed answer. Errors: 502. */
export function checkAnswer<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const read = v.safeParse(schema, answer)
  if (!read.success) throw unexpectedForm(new v.ValiError(read.issues))
  return read.output
}

const unexpectedForm = (cause: unknown): PlatformError =>
  badGateway('The git provider answered in an unexpected form.', cause)

/** Number of a pull request, limited by the database column. */
export const pullNumber = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2_147_483_647))
/** Address of a web page; clients show it as a link, so `javascript:…` and the like must not pass. */
export const pageUrl = v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//i))
