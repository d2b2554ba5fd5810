import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitConfig } from '../../../config/types.ts'
import { PlatformError } from '../../../src/base/errors.ts'

export type CloneLimits = Pick<GitConfig, 'max_clone_mib' | 'max_clone_files'>

export const MIB = 1024 * 1024
const LOOK_EVERY_MS = 250
/** Git keeps what it fetches in a handful of packs, so more entries than this need not be looked at. */
const MAX_ENTRIES = 20_000

/** Thrown when a repository is too large. Its text names the limit and the key that sets it. */
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

/**
 * Watches how a git directory grows while git works on the network.
 * @returns a signal that fires when it is larger than the limit; `look` looks at once, and `stop` ends the watch
 */
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

/** Adds up the sizes of the files below a directory, without following links. What cannot be read counts nothing. */
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
