import { internal } from '../../src/base/errors.ts'
import { type Checkout, hiddenPaths } from './checkout.ts'
import { gitText } from './git.ts'
import { readText } from './read-text.ts'

export interface UntrackedFile {
  /** POSIX, relative to the engine root. */
  path: string
  content: string
}

const MAX_CHARACTERS = 1_000_000

/** New files below the engine root that no ignore rule hides, with their text. */
export async function untrackedFiles(checkout: Checkout, signal?: AbortSignal): Promise<UntrackedFile[]> {
  const { git, iac_root, clone } = checkout
  const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...hiddenPaths(checkout.paths)]
  const output = await git.local(args, { cwd: iac_root, signal })
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  const files: UntrackedFile[] = []
  for (const path of output.stdout.split('\0').filter(Boolean)) {
    const content = await readText(`${iac_root}/${path}`, MAX_CHARACTERS)
    if (content !== null) files.push({ path, content })
  }
  return files
}
