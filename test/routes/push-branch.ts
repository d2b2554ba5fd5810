import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Pushes a branch with one commit into a bare repository, as a round does. */
export async function pushBranch(repository: string, branch: string): Promise<void> {
  const git = async (...args: string[]) => {
    const { stdout } = await run('git', [
      '-C',
      repository,
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@example.org',
      ...args,
    ])
    return stdout.trim()
  }
  const commit = await git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Platform changes')
  await git('update-ref', `refs/heads/${branch}`, commit)
}
