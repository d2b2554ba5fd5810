import { createHash } from 'node:crypto'
import { internal } from '../../src/base/errors.ts'
import type { Checkout } from './checkout.ts'
import { gitText } from './git.ts'

/** Fingerprint of the work tree: SHA-256 (hex) of git's machine-readable status with branch and untracked files. */
export async function revision(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, clone } = checkout
  const output = await git.local(['status', '--porcelain=v2', '--branch', '--untracked-files=all'], {
    cwd: clone,
    signal,
  })
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  return createHash('sha256').update(output.stdout).digest('hex')
}
