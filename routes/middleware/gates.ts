import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { OPERATION_ROLES, type OperationRole, PANEL_ROLES, type PanelRole, type User } from '../../src/access/users.ts'
import { forbidden } from '../../src/base/errors.ts'
import type { AppEnv } from '../env.ts'

/** 401 unless the caller is known; leaves the user's row in `c.var.user`. */
export const requireUser = createMiddleware<AppEnv>(async (c, next) => {
  await identify(c)
  await next()
})

/** 401, then 403 below this operation role. */
export const requireOperation = (role: OperationRole) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const user = await identify(c)
    if (OPERATION_ROLES.indexOf(user.operation_role) < OPERATION_ROLES.indexOf(role))
      throw forbidden(`Requires operation role '${role}' or higher`)
    await next()
  })

/** 401, then 403 below this panel role or without any. */
export const requirePanel = (role: PanelRole) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const user = await identify(c)
    if (user.panel_role === null || PANEL_ROLES.indexOf(user.panel_role) < PANEL_ROLES.indexOf(role))
      throw forbidden(`Requires admin-panel role '${role}' or higher`)
    await next()
  })

async function identify(c: Context<AppEnv>): Promise<User> {
  const user = await c.var.platform.authenticate(c.req.header('authorization') ?? null)
  c.set('user', user)
  c.set('log', c.var.log.with({ user_id: user.id }))
  return user
}
