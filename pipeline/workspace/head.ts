import { internal } from '../../src/base/errors.ts'
import type { Checkout } from './checkout.ts'
import { gitText } from './git.ts'

/** Commit id of the branch head. */
export async function head(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, clone } = checkout
  const output = await git.local(['rev-parse', '--verify', 'HEAD'], { cwd: clone, signal })
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  return output.stdout.trim()
}
