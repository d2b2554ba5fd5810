import { lstat, mkdir, realpath, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { internal } from '../../../src/base/errors.ts'

/** The place of a clone: files in the upload folder, git's directory in a folder of the worker only. */
export interface GitPlace {
  /** Absolute path of git's directory, which the engine cannot reach. */
  directory: string
  /** Absolute path of the files, which contain nothing that git trusts. */
  workTree: string
}

/** Returns the folder of the git directories: the configured one, or one of this account in the temporary folder. */
export const gitFolder = ({ git_folder }: Pick<Config['paths'], 'git_folder'>): string =>
  git_folder === '' ? join(tmpdir(), `platform-git-${process.getuid?.() ?? 'worker'}`) : resolve(git_folder)

/**
 * Creates the folder for the git directories of a session. Workers of a machine may share the parent folder, because
 * the lease determines who uses the session. Errors: 500 when another account or the engine could write to the folder.
 * @returns the place of a new clone with this name
 */
export async function preparePlace(paths: Config['paths'], workTree: string): Promise<GitPlace> {
  const session = basename(dirname(workTree))
  const folder = gitFolder(paths)
  await mkdir(join(folder, session), { recursive: true, mode: 0o700 })
  await mkdir(dirname(workTree), { recursive: true })
  await assertPrivate(folder, paths)
  await assertPrivate(join(folder, session), paths)
  return { directory: join(folder, session, basename(workTree)), workTree }
}

/** Removes git's directory of a clone, and the session's folder when that is then empty. */
export async function removeGitDirectory({ directory }: GitPlace): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await rmdir(dirname(directory)).catch(() => {})
}

/** Removes the git directories of earlier runs of a session. */
export const removeGitLeftovers = (paths: Config['paths'], session: string): Promise<void> =>
  rm(join(gitFolder(paths), session), { recursive: true, force: true })

/** Refuses a folder that another account may write: its git configuration could make git run programs. */
async function assertPrivate(folder: string, paths: Config['paths']): Promise<void> {
  const entry = await lstat(folder)
  const isForeign = process.getuid !== undefined && entry.uid !== process.getuid()
  // A configured folder may be a mounted volume, whose own mode and owner the platform cannot choose.
  const isConfigured = paths.git_folder !== '' && folder === gitFolder(paths)
  if (!isConfigured && (!entry.isDirectory() || isForeign || (entry.mode & 0o022) !== 0))
    throw internal('The folder of the git directories belongs to another account: set paths.git_folder.')
  const [real, uploads] = await Promise.all([realpath(folder), realpath(resolve(paths.upload_folder))])
  if (real === uploads || real.startsWith(uploads + sep))
    throw internal('paths.git_folder must not be inside of paths.upload_folder, which the engine can write.')
}
