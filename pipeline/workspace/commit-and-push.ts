import { internal } from '../../src/base/errors.ts'
import { type Git, gitText } from './git.ts'
import { push } from './push.ts'

const COMMIT_MESSAGE = 'Platform changes'

/**
 * Commits everything that changed in the work tree, except the override file, and pushes; does
 * nothing when nothing changed. Answers the commit of the branch head.
 * Errors: 500 with git's text.
 */
export async function commitAndPush(
  git: Git,
  options: { clone: string; branch: string; hidden: readonly string[]; signal?: AbortSignal },
): Promise<string> {
  const { clone, signal } = options
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: clone, signal })
    if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
    return output.stdout.trim()
  }
  await run(['add', '--all', '--', '.', ...options.hidden])
  const staged = await git.local(['diff', '--cached', '--quiet', '--no-ext-diff'], { cwd: clone, signal })
  if (staged.code !== 0) {
    await run(['commit', '--quiet', '--no-verify', `--message=${COMMIT_MESSAGE}`])
    await push(git, options)
  }
  return run(['rev-parse', '--verify', 'HEAD'])
}
