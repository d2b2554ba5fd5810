import { chmod, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { Logger } from '../../../src/base/log.ts'
import { runProcess } from './run-process.ts'

/**
 * Sets the author and, when user and token are both set, the credential store of the account this
 * process runs as, so that git used by hand beside the platform behaves like it. Never throws.
 * @param home directory of `.gitconfig` and `.git-credentials`
 */
export async function configureGit(config: Config, log: Logger, home: string = homedir()): Promise<void> {
  const { git } = config
  try {
    await set(home, 'user.name', git.author_name)
    await set(home, 'user.email', git.author_email)
    const unset = [!git.user && 'user', !git.token && 'token'].filter(Boolean)
    if (unset.length > 0) {
      log.warn(`git credentials are not configured (unset: ${unset.join(', ')}): pushes and pull requests will fail`, {
        provider: git.provider,
      })
      return
    }
    await storeCredentials(home, `https://${encode(git.user)}:${encode(git.token)}@${git.host}\n`)
    await set(home, 'credential.helper', 'store')
  } catch (error) {
    log.warn(`Failed to configure git credentials: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

async function set(home: string, key: string, value: string): Promise<void> {
  const env = { HOME: home, PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' }
  const args = ['config', '--global', '--replace-all', '--', key, value]
  const output = await runProcess({ file: 'git', args, cwd: home, env, timeout_ms: 10_000 })
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

/** As `encodeURIComponent`, and the characters it leaves alone though they have a meaning here. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
