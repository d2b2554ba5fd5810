import { randomBytes } from 'node:crypto'
import { lstat, realpath, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { SessionFacts } from '../../../src/sessions/types.ts'
import { locateRoot } from '../files/confine.ts'
import { removeLeftovers } from './pin.ts'
import { hashFile } from './private-files.ts'

/** The reviewed directory of a session, found in good order. */
export interface PinnedDirectory {
  /** Absolute. */
  clone: string
  /** Absolute, real path; the sidecar's `workspace_path`. */
  iac_root: string
}

type Owner = Pick<SessionFacts, 'uuid' | 'workspace'>

const sessionFolder = (paths: Config['paths'], uuid: string) => resolve(paths.upload_folder, uuid)
const pinnedFolder = (paths: Config['paths'], uuid: string) => join(sessionFolder(paths, uuid), 'pinned')

/**
 * The pinned directory when its plan file is the sealed one; `missing` when there is no directory with a plan
 * file, `another` when the file is not that one. Nothing is followed out of the directory.
 */
export async function findPinned(
  paths: Config['paths'],
  session: Owner,
  planSha256: string,
): Promise<PinnedDirectory | 'missing' | 'another'> {
  await removeLeftovers(sessionFolder(paths, session.uuid))
  return await inspectPinned(pinnedFolder(paths, session.uuid), paths, session, planSha256)
}

/** The same for a directory that is not the pinned one yet. */
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
  return hash === planSha256 ? { clone: await realpath(clone), iac_root: iacRoot } : 'another'
}

/**
 * Takes the pinned directory away, if there is one.
 * @param in_use an engine may still run in it: it is only moved aside, and removed when the session runs next
 */
export async function removePinned(paths: Config['paths'], uuid: string, options: { in_use: boolean }): Promise<void> {
  const folder = pinnedFolder(paths, uuid)
  if (!options.in_use) return await rm(folder, { recursive: true, force: true })
  const aside = join(sessionFolder(paths, uuid), `ended-${randomBytes(4).toString('hex')}`)
  await rename(folder, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
