import { internal } from '../../src/base/errors.ts'
import { type Checkout, hiddenPaths } from './checkout.ts'
import { gitText } from './git.ts'
import type { FileChange } from './types.ts'
import { untrackedFiles } from './untracked-files.ts'

const DIFF = [
  'diff',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--no-prefix',
  '--relative',
  '--unified=1000',
]

/** What the next commit would hold below the engine root: diffs with full context, new files whole. */
export async function pendingChanges(checkout: Checkout, signal?: AbortSignal): Promise<FileChange[]> {
  const { git, iac_root, clone } = checkout
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: iac_root, signal })
    if (output.code !== 0 && output.stopped !== 'output') throw internal(gitText(output, { clone, url: git.url }))
    return output.stdout
  }
  const listed = await run([
    'diff',
    '--name-only',
    '-z',
    '--no-renames',
    '--diff-filter=AMDT',
    '--relative',
    'HEAD',
    '--',
    '.',
    ...hiddenPaths(checkout.paths),
  ])
  const changes: FileChange[] = []
  for (const path of listed.split('\0').filter(Boolean)) {
    const diff = (...options: string[]) => run(['--literal-pathspecs', ...DIFF, ...options, 'HEAD', '--', path])
    // A change of blanks alone leaves nothing to show without it.
    const content = (await diff('--ignore-space-change')) || (await diff())
    changes.push({ path, new_file: false, content })
  }
  for (const { path, content } of await untrackedFiles(checkout, signal))
    changes.push({ path, new_file: true, content })
  return changes
}
