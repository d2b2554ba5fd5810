import { internal } from '../../src/base/errors.ts'
import { type Checkout, hiddenPaths } from './checkout.ts'
import { gitText } from './git.ts'

/**
 * Puts the files back as they are in a commit of this clone; files that came later go, ignored ones stay. The branch
 * is left where it is, so the next commit takes back what came after.
 * Errors: 500 with git's text.
 */
export async function restore(checkout: Checkout, commit: string, signal?: AbortSignal): Promise<void> {
  const { git, clone, paths } = checkout
  const files = ['--', '.', ...hiddenPaths(paths)]
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: clone, signal })
    if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  }
  await run(['add', '--all', ...files])
  await run(['restore', `--source=${commit}`, '--staged', '--worktree', ...files])
}
