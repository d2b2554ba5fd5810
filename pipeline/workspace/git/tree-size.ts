import type { PlatformError } from '../../../src/base/errors.ts'
import { type Git, mustSucceed } from './git.ts'
import { type CloneLimits, MIB, measure, repositoryTooLarge, tooManyFiles } from './limits.ts'

/** Throws 422 `RepositoryTooLarge` when the files of a commit exceed the limits; 500 with git's text. */
export async function assertTreeFits(git: Git, commit: string, signal?: AbortSignal): Promise<void> {
  const { place, limits } = git
  const { bytes } = await measure(place.directory)
  const tree = createTreeMeter(limits, bytes)
  const output = await git.local(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], {
    cwd: place.workTree,
    consume: tree.take,
    signal,
  })
  const refusal = tree.refusal()
  if (refusal !== null) throw refusal
  mustSucceed(git, output)
}

/** Counts the files and folders in the streamed output of `ls-tree -r -t -l -z`. */
function createTreeMeter(limits: CloneLimits, start: number) {
  let bytes = start
  let entries = 0
  let rest = Buffer.alloc(0)
  const refusal = (): PlatformError | null => {
    if (bytes > limits.max_clone_mib * MIB) return repositoryTooLarge(limits)
    return entries > limits.max_clone_files ? tooManyFiles(limits) : null
  }
  const count = (line: string) => {
    // The size is the fourth word, and a hyphen for a folder.
    const size = Number(line.slice(0, line.indexOf('\t')).split(/\s+/)[3])
    if (Number.isFinite(size)) bytes += size
    entries++
  }
  return {
    refusal,
    /** Returns false when a limit is exceeded, so that git is stopped. */
    take: (chunk: Buffer): boolean => {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let from = 0
      for (let end = all.indexOf(0); end >= 0; end = all.indexOf(0, from)) {
        count(all.toString('utf8', from, end))
        from = end + 1
      }
      rest = Buffer.from(all.subarray(from))
      return refusal() === null
    },
  }
}
