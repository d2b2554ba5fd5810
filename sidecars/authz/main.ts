import { runService } from '../shared/run-service.ts'
import { type Environment, hostOf, portOf, SettingsError, textOf } from '../shared/settings.ts'
import { createAuthzApp } from './app.ts'
import { openRoleStore, type RoleStore } from './role-store.ts'
import { assignRole } from './roles.ts'

export const main = (): Promise<void> =>
  runService({
    name: 'authz',
    tokenVariable: 'PLATFORM_AUTHZ_TOKEN',
    readSettings,
    open: async ({ token, permissive, roleStore, rootAdminEmail }, log) => {
      const store = openRoleStore(roleStore)
      await prepareStore(store, { path: roleStore, rootAdminEmail })
      log.info('role store', { path: roleStore, permissive })
      const app = createAuthzApp({ token, permissive, store, log })
      return { fetch: (request) => app.fetch(request) }
    },
  })

/** Grants role `admin` to the root admin, if set. Errors: `SettingsError` when the store cannot be read or written. */
export async function prepareStore(store: RoleStore, options: { path: string; rootAdminEmail: string }): Promise<void> {
  const email = options.rootAdminEmail
  try {
    if (email === '') await store.read()
    else await store.change((users) => assignRole(users, email, 'admin', email))
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error'
    throw new SettingsError(
      `The role store ${options.path} cannot be used: ${reason}. It was left as it is; mend it or move it away.`,
    )
  }
}

export interface AuthzSettings {
  host: string
  port: number
  /** The bearer token; blank accepts every request. */
  token: string
  /** True if every check is granted. */
  permissive: boolean
  /** Path of the JSON file with users and roles. */
  roleStore: string
  /** The user who holds role `admin` from the start; empty for none. */
  rootAdminEmail: string
}

/** Reads the settings. Any value but `true` turns the permissive switch off. Errors: `SettingsError`. */
export function readSettings(env: Environment): AuthzSettings {
  const problems: string[] = []
  const permissive = env.PLATFORM_AUTHZ_PERMISSIVE
  const rootAdminEmail = textOf(env, 'PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL')
  if (rootAdminEmail.length > 256) problems.push('PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL must have at most 256 characters')
  const settings: AuthzSettings = {
    host: hostOf(env),
    port: portOf(env, 8083, problems),
    token: textOf(env, 'PLATFORM_AUTHZ_TOKEN'),
    permissive: permissive === undefined || permissive.trim().toLowerCase() === 'true',
    roleStore: textOf(env, 'PLATFORM_AUTHZ_ROLE_STORE') || '/data/roles.json',
    rootAdminEmail,
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}
