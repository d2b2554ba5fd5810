import { internal } from '../../src/base/errors.ts'
import { type Checkout, hiddenPaths } from './checkout.ts'
import { gitText } from './git.ts'

/** Files below the engine root whose content at the branch head is not what it was at `since`, a commit of this clone. */
export async function changedFiles(checkout: Checkout, since: string, signal?: AbortSignal): Promise<string[]> {
  const { git, iac_root, clone } = checkout
  const args = ['diff', '--name-only', '-z', '--no-ext-diff', '--no-renames', '--relative', since, 'HEAD', '--', '.']
  const output = await git.local([...args, ...hiddenPaths(checkout.paths)], { cwd: iac_root, signal })
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  return output.stdout.split('\0').filter(Boolean)
}
