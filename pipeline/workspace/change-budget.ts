import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitConfig } from '../../config/types.ts'
import { PlatformError } from '../../src/base/errors.ts'
import { excludeNeverPushed, isNeverPushed } from './files/engine-files.ts'
import { MIB, mustSucceed } from './git/git.ts'
import type { Checkout } from './workspace.ts'

const CHANGED = ['ls-files', '--modified', '--deleted', '--others', '--exclude-standard', '-z']

/**
 * Lists the changed, new and deleted files of the clone that a commit would contain, and reads none of them. An engine
 * run can leave any number of files of any size. Errors: 422 `ChangesTooLarge` above the limits of `git`; 500 with
 * git's text.
 */
export async function listChanges({ git, paths }: Pick<Checkout, 'git' | 'paths'>): Promise<string[]> {
  const { max_change_files, max_change_file_mib, max_change_mib } = git.limits
  const names = new Set<string>()
  const take = readNames((name) => {
    if (!isNeverPushed(paths, name)) names.add(name)
    return names.size <= max_change_files
  })
  const listed = await git.local([...CHANGED, '--', '.', ...excludeNeverPushed(paths)], { consume: take })
  if (names.size > max_change_files)
    throw changesTooLarge(`More than ${max_change_files} files were changed or left`, [...names], 'max_change_files')
  mustSucceed(git, listed)
  const files: { name: string; bytes: number }[] = []
  for (const name of names) {
    const info = await lstat(join(git.place.workTree, name)).catch(() => null)
    if (info?.isFile()) files.push({ name, bytes: info.size })
  }
  const largest = files.sort((a, b) => b.bytes - a.bytes).map(({ name }) => name)
  const sum = files.reduce((total, { bytes }) => total + bytes, 0)
  const found =
    files.length === 1
      ? `One file of ${mebibytes(sum)} MiB was changed or left`
      : `${files.length} files of ${mebibytes(sum)} MiB together were changed or left`
  if ((files[0]?.bytes ?? 0) > max_change_file_mib * MIB)
    throw changesTooLarge(
      files.length === 1 ? found : `${found}, the largest of ${mebibytes(files[0]?.bytes ?? 0)} MiB`,
      largest,
      'max_change_file_mib',
    )
  assertSumFits({ max_change_mib }, sum, found, largest)
  return [...names]
}

/** Throws 422 `ChangesTooLarge` for more bytes than all changes of a clone may have. */
export function assertSumFits(
  { max_change_mib }: Pick<GitConfig, 'max_change_mib'>,
  bytes: number,
  found: string,
  examples: readonly string[],
): void {
  if (bytes > max_change_mib * MIB) throw changesTooLarge(found, examples, 'max_change_mib')
}

/** Returns a consumer of names that end with a zero byte; it stops the command once `take` returns false. */
function readNames(take: (name: string) => boolean): (chunk: Buffer) => boolean {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    const bytes = Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(0) + 1
    rest = bytes.subarray(end)
    return bytes
      .subarray(0, end)
      .toString('utf8')
      .split('\0')
      .every((name) => name === '' || take(name))
  }
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / MIB)

const EXAMPLES = 3
const MAX_NAME = 100

function changesTooLarge(found: string, names: readonly string[], key: keyof GitConfig): PlatformError {
  const examples = names.slice(0, EXAMPLES).map((name) => `'${name.replaceAll(/\p{Cc}/gu, '?').slice(0, MAX_NAME)}'`)
  return new PlatformError(
    'ChangesTooLarge',
    422,
    `${found} in the workspace, for example ${examples.join(', ')}. They are neither read nor committed ` +
      `(limit: git.${key}). What the engine leaves there belongs into .gitignore.`,
  )
}
