import { forbidden } from '../base/errors.ts'
import { matchesWildcard } from '../base/text.ts'
import { CLOUDS } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import { checkAccess } from '../services/authz.ts'
import type { User } from './users.ts'

interface AuthorizationRequest {
  cloud: string
  project_name: string
  /** Blank when the request names no environment. */
  environment: string
  /** Only for a service that announces that it wants it; absent when the request names no scope. */
  scope_id?: string
}

/**
 * Asks the authorization sidecar whether the caller may operate on a project in a cloud. While the sidecar is disabled,
 * every caller may, and no request is sent. Throws the errors of the sidecar's client.
 */
export async function authorize(
  context: Pick<Context, 'config' | 'fetch' | 'log'>,
  caller: User,
  request: AuthorizationRequest,
) {
  const service = context.config.services.authz
  if (!service.enabled) return { result: true, message: 'authz service disabled in system config', portalUrl: null }
  const { cloud, project_name: project, environment, scope_id } = request
  const isNamed = environment.trim() !== ''
  const check = { user_id: caller.email || caller.subject, cloud, project, ...(isNamed && { environment }) }
  const { issuer, subject } = caller
  const { authorized, reason, portal_url } = await checkAccess(service, context.fetch, check, {
    ...{ issuer, subject },
    ...(scope_id !== undefined && { scope_id }),
  })
  const denial = `Not authorized on ${cloud}/${project}${isNamed ? ` (${environment})` : ''}`
  const text = authorized ? `Authorized on ${project}` : denial
  return {
    result: authorized,
    message: reason?.trim() ? reason : text,
    portalUrl: portal_url !== null && isWebAddress(portal_url) ? portal_url : null,
  }
}

/**
 * Requires that the caller may work on the place. Sends no request unless `services.authz.enforce` is true. Throws
 * 403 with the sidecar's text, and the errors of the sidecar's client, so that nothing is done without its answer.
 */
export const requireAuthorization = (
  context: Pick<Context, 'config' | 'fetch' | 'log'>,
  caller: User,
  request: AuthorizationRequest,
): Promise<void> => requireConsent(context, caller, [request])

/**
 * Requires that the caller may work on the repository in at least one cloud, for a request that names no cloud and no
 * path. Throws as `requireAuthorization`.
 */
export const requireSomeAuthorization = (
  context: Pick<Context, 'config' | 'fetch' | 'log'>,
  caller: User,
  project_name: string,
): Promise<void> =>
  requireConsent(
    context,
    caller,
    CLOUDS.map((cloud) => ({ cloud, project_name, environment: '' })),
  )

/** Requires consent to one of the requests. The text of a refusal is that of the first one. */
async function requireConsent(
  context: Pick<Context, 'config' | 'fetch' | 'log'>,
  caller: User,
  requests: readonly AuthorizationRequest[],
): Promise<void> {
  const { enabled, enforce } = context.config.services.authz
  if (!enabled || !enforce) return
  const decisions = await Promise.all(requests.map((request) => authorize(context, caller, request)))
  if (!decisions.some(({ result }) => result)) throw forbidden(decisions[0]?.message ?? '')
}

/**
 * Requires that the scope may be used in the repository, as `access.scopes` binds them, whoever asks. Throws 403.
 * @param repository `host/path` in lower case
 */
export function requireScope({ scopes }: Context['config']['access'], scopeId: string, repository: string): void {
  const [scope, others] = [scopeId.trim().toLowerCase(), '*']
  const bound = [scope, others].find((key) => Object.hasOwn(scopes, key))
  if (bound === undefined) return
  // A host may read an escaped path in another way than these patterns.
  const allowed = (scopes[bound] ?? []).some(
    (pattern) => pattern === '*' || (!repository.includes('%') && matchesWildcard(pattern, repository)),
  )
  if (!allowed) throw forbidden(SCOPE_REFUSED)
}

export const SCOPE_REFUSED =
  'scope_id may not be used with this repository; access.scopes of the platform binds scopes.'

/** True for http(s) addresses. Clients render the address as a link, so `javascript:…` must not pass. */
const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
