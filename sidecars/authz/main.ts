import { runService } from '../shared/run-service.ts'
import { SettingsError } from '../shared/settings.ts'
import { createAuthzApp } from './app.ts'
import { openRoleStore, type RoleStore } from './role-store.ts'
import { assignRole } from './roles.ts'
import { readSettings } from './settings.ts'

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
