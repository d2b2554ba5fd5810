import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that name the engine's own configuration; the second is the older name. */
const VARIABLES = ['TF_CLI_CONFIG_FILE', 'TERRAFORM_CONFIG']

/** Drops and logs variables without a configuration file, or with a relative path, which a repository could fill. */
export async function withoutMissingCliConfig(env: Environment, log: Logger): Promise<Environment> {
  const kept = { ...env }
  for (const name of VARIABLES) {
    const path = env[name]
    if (path === undefined) continue
    const reason = path.trim() === '' ? null : await findFault(path)
    if (reason === null && path.trim() !== '') continue
    delete kept[name]
    if (reason !== null) log.warn(`${name} ${reason}; engines run without it`)
  }
  return kept
}

async function findFault(path: string): Promise<string | null> {
  if (!isAbsolute(path)) return 'must be an absolute path'
  const found = await stat(path).catch(() => null)
  if (found === null || found.isDirectory()) return 'names no file'
  return access(path, constants.R_OK).then(
    () => null,
    () => 'names a file that this service cannot read',
  )
}
