import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Logger } from '../../src/base/log.ts'
import { answerUnexpected, createSidecarApp, problemResponse, readBody } from '../shared/http.ts'
import { runService } from '../shared/run-service.ts'
import { checkSettings, type Environment, reasonOf, SettingsError, serverSettings, textOf } from '../shared/settings.ts'
import {
  assignRole,
  DamagedStore,
  holdsAdmin,
  isRole,
  noticeUser,
  openRoleStore,
  ROLES,
  type RoleStore,
  revokeRole,
} from './role-store.ts'

export const main = (): Promise<void> =>
  runService({
    name: 'authz',
    tokenVariable: 'PLATFORM_AUTHZ_TOKEN',
    readSettings,
    open: async ({ token, permissive, roleStore, rootAdminEmail }, log) => {
      const store = openRoleStore(roleStore)
      await prepareStore(store, { path: roleStore, rootAdminEmail })
      log.info('role store', { path: roleStore, permissive })
      return { fetch: createAuthzApp({ token, permissive, store, log }).fetch }
    },
  })

/** Grants role `admin` to the root admin, if set. Errors: `SettingsError` when the store cannot be read or written. */
export async function prepareStore(store: RoleStore, options: { path: string; rootAdminEmail: string }): Promise<void> {
  const { path, rootAdminEmail: email } = options
  try {
    if (email === '') await store.read()
    else await store.change((users) => assignRole(users, email, 'admin', email))
  } catch (error) {
    const reason = `The role store ${path} cannot be used: ${reasonOf(error)}`
    throw new SettingsError(`${reason}. It was left as it is; mend it or move it away.`)
  }
}

/** Reads the settings. Any value but `true` turns the permissive switch off. Errors: `SettingsError`. */
export const readSettings = (env: Environment) =>
  checkSettings((problems) => {
    const rootAdminEmail = textOf(env, 'PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL')
    if (rootAdminEmail.length > 256) problems.push('PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL must have at most 256 characters')
    return {
      ...serverSettings(env, 8083, 'PLATFORM_AUTHZ_TOKEN', problems),
      /** True if every check is granted. */
      permissive: (env.PLATFORM_AUTHZ_PERMISSIVE ?? 'true').trim().toLowerCase() === 'true',
      /** Path of the JSON file with users and roles. */
      roleStore: textOf(env, 'PLATFORM_AUTHZ_ROLE_STORE') || '/data/roles.json',
      /** The user who holds role `admin` from the start; empty for none. */
      rootAdminEmail,
    }
  })

const BODY = { maxBytes: 64 * 1024, unparseable: 400 } as const
const MAX_ID = 1024
const MAX_ROLE = 64

const RoleRequest = z.strictObject({ role: z.string().min(1).max(MAX_ROLE) })

/** Creates the HTTP routes of `contracts/authz.v1.yaml`. */
export function createAuthzApp(options: { token: string; permissive: boolean; store: RoleStore; log: Logger }): Hono {
  const { permissive, store, log } = options
  const app = createSidecarApp({ token: options.token, log })
  app.onError((error) => {
    if (error instanceof DamagedStore) {
      log.error('the role store is damaged and is left as it is', { reason: error.message })
      return problemResponse(503, 'The role store is damaged.')
    }
    return answerUnexpected(error, log)
  })

  app.post('/v1/check', async (c) => {
    const body = await readBody(c, CheckRequest, BODY)
    if (!body.ok) return body.response
    return c.json(decide(body.value, permissive), 200, { 'x-check-fields': OPTIONAL_KEYS })
  })

  app.get('/v1/users/me', async (c) => {
    const id = c.req.header('x-user-id')?.slice(0, MAX_ID)
    if (!id) return c.json({ id: 'anonymous', email: null, name: null, roles: [] })
    const email = c.req.header('x-user-email')?.slice(0, 256) || null
    await store.change((users) => noticeUser(users, id, email))
    return c.json((await store.read()).get(id) ?? { id, email, name: null, roles: [] })
  })

  app.get('/v1/roles', (c) => c.json({ roles: ROLES }))

  app.get(
    '/v1/users',
    async (c) => (await refuseCaller(c, store)) ?? c.json({ users: [...(await store.read()).values()] }),
  )

  app.post('/v1/users/:user_id/roles', async (c) => {
    const { user_id } = c.req.param()
    const tooLong = refuseLong({ user_id })
    if (tooLong) return tooLong
    const body = await readBody(c, RoleRequest, BODY)
    if (!body.ok) return body.response
    const refused = await refuseCaller(c, store)
    if (refused) return refused
    const { role } = body.value
    if (!isRole(role)) return problemResponse(404, `Unknown role: ${role}`)
    await store.change((users) => assignRole(users, user_id, role))
    return c.body(null, 204)
  })

  app.delete('/v1/users/:user_id/roles/:role', async (c) => {
    const { user_id, role } = c.req.param()
    const refused = refuseLong({ user_id, role }) ?? (await refuseCaller(c, store))
    if (refused) return refused
    await store.change((users) => revokeRole(users, user_id, role))
    return c.body(null, 204)
  })
  return app
}

/** Refuses a caller without role `admin`. The caller's id is trusted: only the core reaches this service. */
async function refuseCaller(c: Context, store: RoleStore): Promise<Response | null> {
  const id = c.req.header('x-user-id')?.slice(0, MAX_ID)
  if (!id) return problemResponse(403, 'X-User-Id header required for admin operations.')
  return holdsAdmin(await store.read(), id) ? null : problemResponse(403, 'Caller does not hold the admin role.')
}

const LIMITS = { user_id: MAX_ID, role: MAX_ROLE }

function refuseLong(path: Partial<Record<keyof typeof LIMITS, string>>): Response | null {
  const problems = (['user_id', 'role'] as const)
    .filter((name) => [...(path[name] ?? '')].length > LIMITS[name])
    .map((name) => `path.${name}: must have at most ${LIMITS[name]} characters`)
  return problems.length > 0 ? problemResponse(422, 'Request validation failed', problems.join('; ')) : null
}

const CheckRequest = z.strictObject({
  user_id: z.string().min(1).max(1024).nullish(),
  cloud: z.string().min(1).max(32),
  project: z.string().min(1).max(256),
  environment: z.string().min(1).max(32).nullish(),
  issuer: z.string().min(1).max(512).nullish(),
  subject: z.string().min(1).max(254).nullish(),
  scope_id: z.string().min(1).max(1016).nullish(),
})
/** The optional keys, which the core sends to a service that lists them in its answers. */
const OPTIONAL_KEYS = 'issuer, subject, scope_id'

/** Decides by the permissive switch alone: this implementation asks no cloud. */
function decide({ cloud, project }: z.output<typeof CheckRequest>, permissive: boolean) {
  const reason = permissive
    ? 'This reference implementation authorises every request; replace it before production use.'
    : `This reference implementation authorises nobody on ${cloud}/${project}.`
  return { authorized: permissive, portal_url: null, reason }
}
