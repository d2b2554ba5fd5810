import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { type Actor, userActor } from '../src/access/audit/record.ts'
import { OPERATION_ROLES, type OperationRole, PANEL_ROLES, type PanelRole, type User } from '../src/access/users.ts'
import { forbidden, PlatformError, sessionNotFound } from '../src/base/errors.ts'
import type { SessionFacts } from '../src/rounds/round.ts'
import { findSession } from '../src/sessions/find.ts'
import type { AppEnv } from './env.ts'
import { type ErrorAnswer, operationForbidden, panelForbidden } from './openapi/answers.ts'

/** Decides who may call a route, with the description of its refusals. */
export interface AccessGate {
  check: MiddlewareHandler<AppEnv>
  errors: readonly (number | ErrorAnswer)[]
}

/** Makes a gate that sets `c.var.user` and throws 401 without a signed-in caller, and what `check` throws. */
const gate = (check: (user: User) => void, ...refusals: ErrorAnswer[]): AccessGate => ({
  check: createMiddleware<AppEnv>(async (c, next) => {
    check(await identify(c))
    await next()
  }),
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
  const { platform } = c.var
  const address = platform.readAddress(c.env?.peer ?? null, c.req.header('x-forwarded-for') ?? null)
  const user = await platform.authenticate(c.req.header('authorization') ?? null, address).catch((error: unknown) => {
    if (error instanceof PlatformError && error.status === 401) platform.refusals.count(reasonOf(error), address)
    throw error
  })
  c.set('address', address)
  c.set('user', user)
  c.set('log', c.var.log.with({ user_id: user.id }))
  return user
}

/** Returns the reason of a refused sign-in, without the common prefix of these texts. */
const reasonOf = (error: PlatformError): string => error.message.replace(/^Token validation failed: /, '')

const notOwnerError = () => forbidden('Not the session owner')

/** Returns the session if the caller owns it or has any panel role. Throws 404 for an unknown session, else 403. */
export async function requireReadableSession(c: Context<AppEnv>, uuid: string): Promise<SessionFacts> {
  const session = await requireSession(c, uuid)
  if (session.user_id !== c.var.user.id && c.var.user.panel_role === null) throw notOwnerError()
  return session
}

/** Returns the session if the caller owns it. Throws 404 for an unknown session, else 403. */
export async function requireOwnSession(c: Context<AppEnv>, uuid: string): Promise<SessionFacts> {
  const session = await requireSession(c, uuid)
  if (session.user_id !== c.var.user.id) throw notOwnerError()
  return session
}

/** Returns the session if the caller owns it or is at least editor. Throws 404 for an unknown session, else 403. */
export async function requireSessionToManage(c: Context<AppEnv>, uuid: string): Promise<SessionFacts> {
  const session = await requireSession(c, uuid)
  const { id, panel_role } = c.var.user
  if (session.user_id !== id && (panel_role === null || panel_role === 'viewer')) throw notOwnerError()
  return session
}

async function requireSession(c: Context<AppEnv>, uuid: string): Promise<SessionFacts> {
  const session = await findSession(c.var.platform.sql, uuid)
  if (!session) throw sessionNotFound(uuid)
  c.set('log', c.var.log.with({ session_id: session.uuid }))
  return session
}

/** Returns the caller as an actor of the audit record. Only for routes that require a signed-in caller. */
export const actorOf = (c: Context<AppEnv>): Actor => userActor(c.var.user, c.var.address)
