import { runService } from '../shared/run-service.ts'
import {
  checkSettings,
  type Environment,
  reasonOf,
  type ServerSettings,
  SettingsError,
  serverSettings,
  textOf,
} from '../shared/settings.ts'
import { createAuthzApp } from './app.ts'
import { assignRole, openRoleStore, type RoleStore } from './role-store.ts'

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
  const email = options.rootAdminEmail
  try {
    if (email === '') await store.read()
    else await store.change((users) => assignRole(users, email, 'admin', email))
  } catch (error) {
    throw new SettingsError(
      `The role store ${options.path} cannot be used: ${reasonOf(error)}. It was left as it is; mend it or move it away.`,
    )
  }
}

interface AuthzSettings extends ServerSettings {
  /** True if every check is granted. */
  permissive: boolean
  /** Path of the JSON file with users and roles. */
  roleStore: string
  /** The user who holds role `admin` from the start; empty for none. */
  rootAdminEmail: string
}

/** Reads the settings. Any value but `true` turns the permissive switch off. Errors: `SettingsError`. */
export const readSettings = (env: Environment): AuthzSettings =>
  checkSettings((problems) => {
    const rootAdminEmail = textOf(env, 'PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL')
    if (rootAdminEmail.length > 256) problems.push('PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL must have at most 256 characters')
    return {
      ...serverSettings(env, 8083, 'PLATFORM_AUTHZ_TOKEN', problems),
      permissive: (env.PLATFORM_AUTHZ_PERMISSIVE ?? 'true').trim().toLowerCase() === 'true',
      roleStore: textOf(env, 'PLATFORM_AUTHZ_ROLE_STORE') || '/data/roles.json',
      rootAdminEmail,
    }
  })
