import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitConfig } from '../../../config/types.ts'
import { PlatformError } from '../../../src/base/errors.ts'

export type CloneLimits = Pick<GitConfig, 'max_clone_mib' | 'max_clone_files'>

export const MIB = 1024 * 1024
const LOOK_EVERY_MS = 250
/** Git keeps fetched objects in a few packs, so more entries than this need not be measured. */
const MAX_ENTRIES = 20_000

/** Returns the error of a repository over the size limit, with the limit and its configuration key. */
export const repositoryTooLarge = ({ max_clone_mib }: CloneLimits): PlatformError =>
  new PlatformError(
    'RepositoryTooLarge',
    422,
    `The repository takes more than ${max_clone_mib} MiB on the disk, so it is not cloned (limit: git.max_clone_mib).`,
  )

export const tooManyFiles = ({ max_clone_files }: CloneLimits): PlatformError =>
  new PlatformError(
    'RepositoryTooLarge',
    422,
    `The repository has more than ${max_clone_files} files and folders, so it is not checked out ` +
      '(limit: git.max_clone_files).',
  )

/** Watches a git directory during network commands; the signal fires above the limit, `look` measures at once. */
export function watchSize(
  directory: string,
  limits: CloneLimits,
): { signal: AbortSignal; look(): Promise<void>; stop(): void } {
  const grown = new AbortController()
  let looking = false
  const look = async () => {
    const { bytes } = await measure(directory)
    if (bytes > limits.max_clone_mib * MIB) grown.abort(repositoryTooLarge(limits))
  }
  const timer = setInterval(async () => {
    if (looking) return
    looking = true
    await look()
    looking = false
  }, LOOK_EVERY_MS)
  return { signal: grown.signal, look, stop: () => clearInterval(timer) }
}

/** Adds up the sizes of the files below a directory, without following links. Unreadable entries count as 0. */
export async function measure(directory: string): Promise<{ bytes: number; entries: number }> {
  const total = { bytes: 0, entries: 0 }
  const waiting = [directory]
  for (let next = waiting.pop(); next !== undefined && total.entries < MAX_ENTRIES; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      total.entries++
      if (entry.isDirectory()) waiting.push(path)
      else total.bytes += (await lstat(path).catch(() => null))?.size ?? 0
    }
  }
  return total
}
