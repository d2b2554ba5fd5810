import { internal } from '../../src/base/errors.ts'
import { type Checkout, hiddenPaths } from './checkout.ts'
import { gitText } from './git.ts'
import { untrackedFiles } from './untracked-files.ts'

const MAX_BYTES = 4 * 1024 * 1024
const DIFF = [
  'diff',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--no-prefix',
  '--ignore-space-change',
  '--relative',
]

/**
 * Everything the session changed below the engine root: the diff from the merge base to the work
 * tree, then the full text of files that are not committed yet. Empty when nothing changed.
 */
export async function branchDiff(checkout: Checkout, base: string, signal?: AbortSignal): Promise<string> {
  const { git, iac_root, clone } = checkout
  const args = [...DIFF, base, '--', '.', ...hiddenPaths(checkout.paths)]
  const output = await git.local(args, { cwd: iac_root, max_output: MAX_BYTES, signal })
  if (output.code !== 0 && output.stopped !== 'output') throw internal(gitText(output, { clone, url: git.url }))
  const parts = output.stdout ? [output.stdout] : []
  if (output.stopped === 'output') parts.push('(cut: the diff is too long)\n')
  for (const { path, content } of await untrackedFiles(checkout, signal)) parts.push(`new file ${path}\n${content}\n`)
  return parts.join('\n')
}
