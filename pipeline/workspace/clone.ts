import { mkdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { internal, type PlatformError } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Git } from './git.ts'

const TIMEOUT_MS = 300_000

/**
 * Clones the newest commit of the default branch and answers that branch's name.
 * @param directory absolute path that does not exist yet
 * Errors: 500 `git clone failed`; git's own words are in the log only. An address that is not public
 * keeps its own text.
 */
export async function clone(
  git: Git,
  directory: string,
  options: { log: Logger; signal?: AbortSignal },
): Promise<string> {
  const { log, signal } = options
  const parent = dirname(directory)
  await mkdir(parent, { recursive: true })
  const args = [
    'clone',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--',
    git.url,
    basename(directory),
  ]
  const output = await git.network(args, { cwd: parent, timeout_ms: TIMEOUT_MS, signal })
  if (output.code !== 0) throw failed(log, output.stopped ?? output.stderr)
  const head = await git.local(['rev-parse', '--symbolic-full-name', '--verify', 'HEAD'], { cwd: directory, signal })
  const [, branch] = /^refs\/heads\/(.+)$/.exec(head.stdout.trim()) ?? []
  if (head.code !== 0 || !branch) throw failed(log, 'the default branch has no commit')
  return branch
}

function failed(log: Logger, reason: string): PlatformError {
  log.error('git clone failed', { reason })
  return internal('git clone failed')
}
