import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readText, writeAtomically } from '../files.ts'

const NAMES = ['object_access_key', 'object_secret_key', 'cache_token', 'iac_token', 'git_token'] as const
export type StackSecrets = Record<(typeof NAMES)[number], string>

/**
 * Loads the secrets of a folder; they are made at the first start. State and sessions outlive a restart, so their keys
 * have to do so as well. Only the owner can read them.
 */
export async function loadSecrets(folder: string): Promise<StackSecrets> {
  const file = join(folder, 'secrets.json')
  const stored = JSON.parse((await readText(file)) ?? '{}') as Partial<StackSecrets>
  const secrets = Object.fromEntries(
    NAMES.map((name) => [name, stored[name] || randomBytes(20).toString('hex')]),
  ) as StackSecrets
  if (NAMES.some((name) => !stored[name])) await writeAtomically(file, JSON.stringify(secrets, null, 1))
  return secrets
}
