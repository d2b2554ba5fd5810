import { type Environment, hostOf, portOf, SettingsError, textOf } from '../shared/settings.ts'

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
