import { internal } from '../../src/base/errors.ts'
import { type Git, gitText } from './git.ts'

const TIMEOUT_MS = 300_000

/**
 * Pushes HEAD to the session branch and makes it the upstream.
 * @param options.lease commit the remote branch must be at, empty when it must not exist; allows the
 * branch to be moved back. Without it only a fast-forward is accepted.
 * Errors: 500 with git's text, without addresses and secrets.
 */
export async function push(
  git: Git,
  options: { clone: string; branch: string; lease?: string; signal?: AbortSignal },
): Promise<void> {
  const { clone, branch, lease, signal } = options
  const reference = `refs/heads/${branch}`
  const leases = lease === undefined ? [] : [`--force-with-lease=${reference}:${lease}`]
  const args = ['push', '--quiet', '--set-upstream', ...leases, 'origin', `HEAD:${reference}`]
  const output = await git.network(args, { cwd: clone, timeout_ms: TIMEOUT_MS, signal })
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
}
