import { chmod, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { Logger } from '../../../src/base/log.ts'
import { runProcess } from './run-process.ts'

/**
 * Writes the author and, if user and token are set, the credentials to the git configuration of this account, for an
 * operator who uses git manually; the platform's git does not read it. Errors are logged, never thrown.
 * @param home directory of `.gitconfig` and `.git-credentials`
 */
export async function configureGit(config: Config, log: Logger, home: string = homedir()): Promise<void> {
  const { git } = config
  try {
    await setGlobal(home, 'user.name', git.author_name)
    await setGlobal(home, 'user.email', git.author_email)
    const unset = [!git.user && 'user', !git.token && 'token'].filter(Boolean)
    if (unset.length > 0) {
      log.warn(`git credentials are not configured (unset: ${unset.join(', ')}): pushes and pull requests will fail`, {
        provider: git.provider,
      })
      return
    }
    await storeCredentials(home, `https://${percentEncode(git.user)}:${percentEncode(git.token)}@${git.host}\n`)
    await setGlobal(home, 'credential.helper', 'store')
  } catch (error) {
    log.warn(`Failed to configure git credentials: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

async function setGlobal(home: string, key: string, value: string): Promise<void> {
  const env = { HOME: home, PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' }
  const args = ['config', '--global', '--replace-all', '--', key, value]
  const output = await runProcess({ file: 'git', args, cwd: home, env, timeoutMs: 10_000 })
  if (output.code !== 0)
    throw new Error(output.stderr.trim() || `git config ended with ${output.code ?? output.stopped}`)
}

async function storeCredentials(home: string, line: string): Promise<void> {
  const path = join(home, '.git-credentials')
  const temporary = `${path}.${process.pid}.tmp`
  await writeFile(temporary, line, { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

/** Encodes like `encodeURIComponent`, and also `!'()*`. */
const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
