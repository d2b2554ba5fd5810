import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Env, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'

export type Profile = Readonly<Record<string, string | undefined>>

export const profileName = (env: Env): string =>
  setting(env, 'TF_VAR_config_file_profile', 'OCI_CONFIG_FILE_PROFILE', 'OCI_CLI_PROFILE') ?? 'DEFAULT'

/**
 * Reads one profile of the configuration file, which is `OCI_CONFIG_FILE`, else `~/.oci/config`. A profile
 * takes nothing over from DEFAULT, as it does with the vendor's clients: that would be another identity than the one
 * that was asked for. Null when there is no such file and none was asked for.
 * https://docs.oracle.com/iaas/Content/API/Concepts/sdkconfig.htm
 */
export async function readProfile(env: Env): Promise<Profile | null> {
  const configuredPath = setting(env, 'OCI_CONFIG_FILE', 'OCI_CLI_CONFIG_FILE')
  const path = configuredPath?.startsWith('~/')
    ? join(env.HOME ?? '', configuredPath.slice(2))
    : (configuredPath ?? join(env.HOME ?? '', '.oci', 'config'))
  const name = profileName(env)
  const text = await readFile(path, 'utf8').catch(() => null)
  const profile = text === null ? undefined : parseProfiles(text).get(name)
  if (profile !== undefined) return profile
  if (configuredPath !== undefined && text === null)
    throw new InventoryError('the file that OCI_CONFIG_FILE names cannot be read')
  if (name !== 'DEFAULT') throw new InventoryError('the OCI configuration file has no such profile as was asked for')
  return null
}

/** Parses `[PROFILE]` and `key=value` lines. Of several values of a key the last one counts. */
export function parseProfiles(text: string): Map<string, Profile> {
  const profiles = new Map<string, Record<string, string>>()
  let current: Record<string, string> | undefined
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim()
    const section = /^\[(.+)\]$/.exec(line)?.[1]?.trim()
    if (section !== undefined) {
      current = profiles.get(section) ?? {}
      profiles.set(section, current)
      continue
    }
    const at = line.indexOf('=')
    if (current === undefined || at < 1 || /^[#;]/.test(line)) continue
    current[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim()
  }
  return profiles
}
