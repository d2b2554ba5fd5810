import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { internal } from '../../src/base/errors.ts'
import type { Checkout } from './checkout.ts'
import { gitText } from './git.ts'

/** How much history is asked for before all of it is. */
const FIRST_STEP = 200

/**
 * Commit where the session branch left the default branch. A shallow clone that does not hold it is
 * deepened once, then completed.
 * Errors: 500 `Git error when merging base: …`, `Git error when unshallowing: …`.
 */
export async function mergeBase(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, clone, branch, default_branch } = checkout
  const text = { clone, url: git.url }
  const ask = () => git.local(['merge-base', `refs/remotes/origin/${default_branch}`, 'HEAD'], { cwd: clone, signal })
  let output = await ask()
  for (const depth of [`--deepen=${FIRST_STEP}`, '--unshallow']) {
    if (output.code === 0 || !(await isShallow(clone))) break
    const branches = branch === default_branch ? [branch] : [default_branch, branch]
    const refspecs = branches.map((name) => `+refs/heads/${name}:refs/remotes/origin/${name}`)
    const fetched = await git.network(['fetch', '--quiet', '--no-tags', depth, 'origin', ...refspecs], {
      cwd: clone,
      signal,
    })
    if (fetched.code !== 0) throw internal(`Git error when unshallowing: ${gitText(fetched, text)}`)
    output = await ask()
  }
  if (output.code !== 0) throw internal(`Git error when merging base: ${gitText(output, text)}`)
  return output.stdout.trim()
}

const isShallow = (clone: string): Promise<boolean> =>
  access(join(clone, '.git', 'shallow')).then(
    () => true,
    () => false,
  )
