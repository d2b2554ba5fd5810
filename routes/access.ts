import type { Context } from 'hono'
import { type Actor, userActor } from '../src/access/audit/record.ts'
import { forbidden, sessionNotFound } from '../src/base/errors.ts'
import type { SessionFacts } from '../src/rounds/session-facts.ts'
import { findSession } from '../src/sessions/find.ts'
import type { AppEnv } from './env.ts'

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
