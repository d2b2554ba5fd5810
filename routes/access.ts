import type { Context } from 'hono'
import { type Actor, userActor } from '../src/access/audit/record.ts'
import { requireAuthorization, requireScope } from '../src/access/authorize.ts'
import { OPERATION_ROLES, type OperationRole, PANEL_ROLES, type PanelRole, type User } from '../src/access/users.ts'
import { forbidden, PlatformError, sessionNotFound } from '../src/base/errors.ts'
import type { Reader } from '../src/events/readers.ts'
import { canonicalRepository } from '../src/plan/state/managed-state.ts'
import type { SessionFacts } from '../src/rounds/round.ts'
import { findSession } from '../src/sessions/find.ts'
import type { AppEnv } from './env.ts'
import { type ErrorAnswer, operationForbidden, panelForbidden } from './openapi/answers.ts'

/** Decides who may call a route, with the description of its refusals. */
export interface AccessGate {
  /** Throws for a caller without access. */
  check: (c: Context<AppEnv>) => Promise<void>
  errors: readonly (number | ErrorAnswer)[]
}

/** Makes a gate that sets `c.var.user` and throws 401 without a signed-in caller, and what `check` throws. */
const gate = (check: (user: User) => void, ...refusals: ErrorAnswer[]): AccessGate => ({
  check: async (c) => check(await identify(c)),
  errors: [401, ...refusals],
})

/** Requires a signed-in caller. Throws 401. */
export const requireUser = gate(() => {})

/** Requires this operation role or a higher one. Throws 401 without a signed-in caller, 403 for a lower role. */
export const requireOperation = (role: OperationRole): AccessGate =>
  gate(({ operation_role }) => {
    if (OPERATION_ROLES.indexOf(operation_role) < OPERATION_ROLES.indexOf(role))
      throw forbidden(`Requires operation role '${role}' or higher`)
  }, operationForbidden(role))

/** Requires this panel role or a higher one. Throws 401 without a signed-in caller, 403 for a lower role or none. */
export const requirePanel = (role: PanelRole): AccessGate =>
  gate(({ panel_role }) => {
    if (panel_role === null || PANEL_ROLES.indexOf(panel_role) < PANEL_ROLES.indexOf(role))
      throw forbidden(`Requires admin-panel role '${role}' or higher`)
  }, panelForbidden(role))

async function identify(c: Context<AppEnv>): Promise<User> {
  const platform = c.get('platform')
  const address = platform.readAddress(c.env?.peer ?? null, c.req.header('x-forwarded-for') ?? null)
  const user = await platform.authenticate(c.req.header('authorization') ?? null, address).catch((error: unknown) => {
    // The reason is counted without the common prefix of these texts.
    if (error instanceof PlatformError && error.status === 401)
      platform.refusals.count(error.message.replace(/^Token validation failed: /, ''), address)
    throw error
  })
  c.set('address', address)
  c.set('user', user)
  c.set('log', c.get('log').with({ user_id: user.id }))
  return user
}

type Find = (platform: AppEnv['Variables']['platform'], uuid: string) => Promise<SessionFacts | null>

/**
 * Makes a function that returns the session of a uuid to its owner and to those whom `isAllowed` accepts. It throws 404
 * for an unknown session, else 403.
 */
const sessionFor =
  (isAllowed: (user: User) => boolean, find: Find = (platform, uuid) => findSession(platform.sql, uuid)) =>
  async (c: Context<AppEnv>, uuid: string): Promise<SessionFacts> => {
    const { platform, user, log } = c.var
    const session = await find(platform, uuid)
    if (!session) throw sessionNotFound(uuid)
    c.set('log', log.with({ session_id: session.uuid }))
    if (session.user_id !== user.id && !isAllowed(user)) throw forbidden('Not the session owner')
    return session
  }

const readsAll = ({ panel_role }: User): boolean => panel_role !== null

/** Returns the session if the caller owns it or has any panel role. */
export const requireReadableSession = sessionFor(readsAll)

/** The same for streams, of which many may begin at once. */
export const requireStreamedSession = sessionFor(readsAll, (platform, uuid) => platform.events.find(uuid))

/**
 * Returns the caller as the reader of a stream of the session, which is checked again while the stream is open: the
 * token, and ownership or panel role. Null while sign-in is off.
 */
export function readerOf(c: Context<AppEnv>, { uuid, user_id }: SessionFacts): Reader | null {
  const { platform, user, address } = c.var
  const authorization = c.req.header('authorization') ?? null
  if (platform.config.oidc.issuer_url === '') return null
  const mayRead = async () => {
    try {
      const now = await platform.authenticate(authorization, address)
      return now.id === user_id || readsAll(now)
    } catch (error) {
      if (error instanceof PlatformError && error.status === 401) return false
      throw error
    }
  }
  return { user_id: user.id, key: `${uuid} ${authorization}`, mayRead }
}

/** Returns the session if the caller owns it or is at least editor. It does not open the repository of the session. */
export const requireSessionToManage = sessionFor(({ panel_role }) => panel_role === 'editor' || panel_role === 'admin')

/**
 * Requires that the scope may be used in the repository, and that the caller may work on it, where the authorization
 * sidecar is enforced. Throws 403, and the sidecar's faults.
 */
export async function requirePlace(
  { var: { platform, user } }: Context<AppEnv>,
  place: { repo_uri: string; provider: string; scope_id: string; iac_path: string | null },
): Promise<void> {
  const { repo_uri, provider, scope_id, iac_path } = place
  requireScope(platform.config.access, scope_id, canonicalRepository(repo_uri))
  const asked = { cloud: provider, project_name: repo_uri, environment: iac_path ?? '', scope_id }
  await requireAuthorization(platform, user, asked)
}

/**
 * Makes the gate of the routes that reach the repository of a session: of those callers whom `find` lets through, the
 * authorization sidecar is asked about the place of the session, where it is enforced. Its refusal is 403, its faults
 * 502 and 504. It is asked at every request, so that a user whose access ended is refused from then on.
 */
const withRepository =
  (find: ReturnType<typeof sessionFor>) =>
  async (c: Context<AppEnv>, uuid: string): Promise<SessionFacts> => {
    const session = await find(c, uuid)
    const { provider, scope_id, workspace } = session
    await requirePlace(c, { repo_uri: workspace.uri, provider, scope_id, iac_path: workspace.root_path })
    return session
  }

/** Returns the session, whose repository the route then reaches, if the caller owns it. */
export const requireOwnRepository = withRepository(sessionFor(() => false))

/** Returns the session, whose repository the route then reaches, if the caller owns it or is at least editor. */
export const requireRepositoryToManage = withRepository(requireSessionToManage)

/** Returns the caller as an actor of the audit record. Only for routes that require a signed-in caller. */
export const actorOf = (c: Context<AppEnv>): Actor => userActor(c.var.user, c.var.address)
