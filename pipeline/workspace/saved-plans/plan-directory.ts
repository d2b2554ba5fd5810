import { randomBytes } from 'node:crypto'
import { lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { SessionFacts } from '../../../src/rounds/round.ts'
import { locateRoot } from '../files/confine.ts'
import { hashFile } from '../files/private-files.ts'

/** Name of the plan directory in the folder of a session. */
export const PLAN_DIRECTORY = 'saved-plan'
/** Name prefix of a plan directory that was discarded while an engine might still use it. */
export const ENDED = 'ended-'
const ASIDE = 'saved-plan.old-'

/** True if a directory is an earlier plan directory that was moved aside. */
export const isAside = (name: string): boolean => name.startsWith(ASIDE)

/** Makes a directory the plan directory. The old one is removed last, so that one of the two always exists. */
export async function keepDirectory(directory: string): Promise<void> {
  const session = dirname(directory)
  const aside = join(session, ASIDE + randomBytes(4).toString('hex'))
  const hadOne = await rename(join(session, PLAN_DIRECTORY), aside).then(() => true, falseIfMissing)
  await rename(directory, join(session, PLAN_DIRECTORY))
  if (hadOne) await rm(aside, { recursive: true, force: true })
}

/**
 * Removes leftovers of earlier runs of a session, except the plan directory. After a crash between the two renames of
 * `keepDirectory`, the directory that was moved aside is restored.
 * @param session absolute path of the session's folder, which need not exist
 */
export async function removeLeftovers(session: string): Promise<void> {
  const names = (await readdir(session).catch(falseIfMissing)) || []
  const hasPlan = names.includes(PLAN_DIRECTORY)
  const [restored] = hasPlan ? [] : await sortNewestFirst(session, names.filter(isAside))
  if (restored) await rename(join(session, restored), join(session, PLAN_DIRECTORY))
  for (const name of names)
    if (name !== PLAN_DIRECTORY && name !== restored) await rm(join(session, name), { recursive: true, force: true })
}

async function sortNewestFirst(session: string, names: string[]): Promise<string[]> {
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(session, name))).ctimeMs })),
  )
  return dated.sort((a, b) => b.time - a.time).map(({ name }) => name)
}

function falseIfMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false
  throw error
}

/** A directory with a plan file that matches the saved plan. */
export interface PlanDirectory {
  /** Absolute. */
  clone: string
  /** Absolute, real path; the `workspace_path` of the sidecar. */
  iacRoot: string
}

type Owner = Pick<SessionFacts, 'uuid' | 'workspace'>

const sessionFolder = (paths: Config['paths'], uuid: string) => resolve(paths.upload_folder, uuid)
const planFolder = (paths: Config['paths'], uuid: string) => join(sessionFolder(paths, uuid), PLAN_DIRECTORY)

/** Finds the plan directory; `missing` without plan file, `another` if that differs from the saved plan. */
export async function findPlanDirectory(paths: Config['paths'], session: Owner, planSha256: string) {
  await removeLeftovers(sessionFolder(paths, session.uuid))
  return await inspectPlanDirectory(planFolder(paths, session.uuid), paths, session, planSha256)
}

/** Does the same for a given directory, which need not be the plan directory yet. */
export async function inspectPlanDirectory(clone: string, paths: Config['paths'], session: Owner, planSha256: string) {
  const entry = await lstat(clone).catch(() => null)
  if (!entry?.isDirectory()) return 'missing'
  const iacRoot = await locateRoot(clone, session.workspace.root_path).catch(() => null)
  if (iacRoot === null) return 'missing'
  const hash = await hashFile(join(iacRoot, paths.session_plan_filename))
  if (hash === null) return 'missing'
  return hash === planSha256 ? { clone: await realpath(clone), iacRoot: iacRoot } : 'another'
}

/** Removes the plan directory; with `inUse` only moves it aside, for the next run or the sweeper. */
export async function removePlanDirectory(paths: Config['paths'], uuid: string, options: { inUse: boolean }) {
  const folder = planFolder(paths, uuid)
  if (!options.inUse) return await rm(folder, { recursive: true, force: true })
  const aside = join(sessionFolder(paths, uuid), ENDED + randomBytes(4).toString('hex'))
  await rename(folder, aside).catch(falseIfMissing)
}
