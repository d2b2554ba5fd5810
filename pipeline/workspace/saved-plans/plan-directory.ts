import { randomBytes } from 'node:crypto'
import { lstat, realpath, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { SessionFacts } from '../../../src/sessions/types.ts'
import { locateRoot } from '../files/confine.ts'
import { ENDED, PINNED, removeLeftovers } from './folder-names.ts'
import { hashFile } from './private-files.ts'

/** The pinned directory of a session, with a plan file that matches the seal. */
export interface PinnedDirectory {
  /** Absolute. */
  clone: string
  /** Absolute, real path. The sidecar gets it as `workspace_path`. */
  iacRoot: string
}

type Owner = Pick<SessionFacts, 'uuid' | 'workspace'>

const sessionFolder = (paths: Config['paths'], uuid: string) => resolve(paths.upload_folder, uuid)
const pinnedFolder = (paths: Config['paths'], uuid: string) => join(sessionFolder(paths, uuid), PINNED)

/**
 * Finds the pinned directory of a session and compares its plan file with the seal. Links that lead out of the
 * directory are not followed.
 * @returns `missing` when there is no directory with a plan file, `another` when its plan file is a different one
 */
export async function findPinned(
  paths: Config['paths'],
  session: Owner,
  planSha256: string,
): Promise<PinnedDirectory | 'missing' | 'another'> {
  await removeLeftovers(sessionFolder(paths, session.uuid))
  return await inspectPinned(pinnedFolder(paths, session.uuid), paths, session, planSha256)
}

/** Does the same for a given directory, which need not be the pinned one yet. */
export async function inspectPinned(
  clone: string,
  paths: Config['paths'],
  session: Owner,
  planSha256: string,
): Promise<PinnedDirectory | 'missing' | 'another'> {
  const entry = await lstat(clone).catch(() => null)
  if (!entry?.isDirectory()) return 'missing'
  const iacRoot = await locateRoot(clone, session.workspace.root_path).catch(() => null)
  if (iacRoot === null) return 'missing'
  const hash = await hashFile(join(iacRoot, paths.session_plan_filename))
  if (hash === null) return 'missing'
  return hash === planSha256 ? { clone: await realpath(clone), iacRoot: iacRoot } : 'another'
}

/**
 * Removes the pinned directory, if there is one.
 * @param options.inUse true when an engine may still run in it. The directory is only moved aside then, and removed
 * when the session runs next or by the sweeper.
 */
export async function removePinned(paths: Config['paths'], uuid: string, options: { inUse: boolean }): Promise<void> {
  const folder = pinnedFolder(paths, uuid)
  if (!options.inUse) return await rm(folder, { recursive: true, force: true })
  const aside = join(sessionFolder(paths, uuid), ENDED + randomBytes(4).toString('hex'))
  await rename(folder, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
