import { type Environment, hostOf, portOf, SettingsError, textOf } from '../shared/settings.ts'

export interface AuthzSettings {
  host: string
  port: number
  /** Blank accepts every request. */
  token: string
  /** True: every check is granted. */
  permissive: boolean
  /** Path of the JSON file with users and roles. */
  role_store: string
  /** Holds role `admin` from the start; empty: nobody does. */
  root_admin_email: string
}

/**
 * The permissive switch is on unless it is set to anything but `true`, so that a misspelt value
 * never grants. Errors: `SettingsError`.
 */
export function readSettings(env: Environment): AuthzSettings {
  const problems: string[] = []
  const permissive = env.PLATFORM_AUTHZ_PERMISSIVE
  const root_admin_email = textOf(env, 'PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL')
  if (root_admin_email.length > 256) problems.push('PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL must have at most 256 characters')
  const settings: AuthzSettings = {
    host: hostOf(env),
    port: portOf(env, 8083, problems),
    token: textOf(env, 'PLATFORM_AUTHZ_TOKEN'),
    permissive: permissive === undefined || permissive.trim().toLowerCase() === 'true',
    role_store: textOf(env, 'PLATFORM_AUTHZ_ROLE_STORE') || '/data/roles.json',
    root_admin_email,
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}
