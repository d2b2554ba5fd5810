import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { IacSettings } from '../settings.ts'
import type { JobKind, JobRecord } from '../types.ts'
import { findForeignProviders } from './providers.ts'

/** Kinds that enlarge a workspace: they install providers and modules, or write a plan. */
const GROWING: readonly JobKind[] = ['init', 'plan']
/** Kinds that start the providers of a workspace. */
const RUNS_PROVIDERS: readonly JobKind[] = ['validate', 'plan', 'show', 'apply', 'import', 'schema', 'diagnostics']

/** Returns the diagnostic for a job that the operator's limits forbid; null when they do not. */
export async function refuseByLimits(
  settings: IacSettings,
  { kind, workspace_path }: JobRecord,
): Promise<string | null> {
  if (RUNS_PROVIDERS.includes(kind)) {
    const foreign = await findForeignProviders(workspace_path, settings.allowedProviders)
    if (foreign.length > 0)
      return (
        'Error: Provider not allowed\n\nThe operator of the iac service allows ' +
        `${settings.allowedProviders.join(', ')}; this workspace uses ${foreign.join(', ')}.`
      )
  }
  if (settings.maxWorkspaceBytes > 0 && GROWING.includes(kind)) {
    const used = await measureDiskUse(workspace_path, settings.maxWorkspaceBytes)
    if (used >= settings.maxWorkspaceBytes)
      return (
        'Error: Workspace too large\n\nThe workspace uses more than the ' +
        `${settings.maxWorkspaceBytes / 1024 ** 2} MiB that the operator of the iac service allows.`
      )
  }
  return null
}

/** More entries than any real workspace has. A folder with more counts as too large, so that the walk ends. */
export const MAX_ENTRIES = 500_000

/** Measures the files in a folder in bytes, until `stopAt`. Skips links: they lead to the shared plugin cache. */
export async function measureDiskUse(folder: string, stopAt: number): Promise<number> {
  let total = 0
  let entries = 0
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined && total < stopAt; path = waiting.pop()) {
    const children = await readdir(path, { withFileTypes: true }).catch(() => [])
    entries += children.length
    if (entries > MAX_ENTRIES) return Number.POSITIVE_INFINITY
    for (const entry of children) {
      const child = join(path, entry.name)
      if (entry.isDirectory()) waiting.push(child)
      else if (entry.isFile()) total += (await lstat(child).catch(() => null))?.size ?? 0
    }
  }
  return total
}

/** Returns the diagnostic for a plan file that is no regular file, such as a link to another file of the machine. */
export async function refuseLinkedPlan(workspace: string, planFile: string | undefined): Promise<string | null> {
  if (planFile === undefined) return null
  const entry = await lstat(join(workspace, planFile)).catch(() => null)
  if (!entry || entry.isFile()) return null
  return (
    `Error: Plan file refused\n\n  on ${planFile}\n\nThe name of the plan file is taken by something that is no ` +
    'regular file. Remove it from the repository.\n'
  )
}

/** Folders of the system. Neither they nor their content, nor a folder that holds them, is a workspace. */
const SYSTEM = ['/bin', '/boot', '/dev', '/etc', '/lib', '/proc', '/sbin', '/sys', '/usr']
/** Folders in which workspaces may lie, but which are none themselves. */
const SHARED = ['/home', '/media', '/mnt', '/opt', '/root', '/run', '/srv', '/tmp', '/var', '/var/lib', '/var/tmp']

/** The folder of this program. */
const PROGRAM = resolve(import.meta.dirname, '../../..')

/**
 * Returns the reason why an existing folder is no workspace; null if it is one: inside of the operator's root, without
 * files of the machine and of the service.
 * @param path as the request names it; `real` is the same without links
 */
export async function refuseFolder(
  path: string,
  real: string,
  { dataDir, pluginCacheDir, workspaceRoot }: Pick<IacSettings, 'dataDir' | 'pluginCacheDir' | 'workspaceRoot'>,
): Promise<string | null> {
  const isOrHolds = (folder: string) => folder === real || folder.startsWith(real === '/' ? '/' : `${real}/`)
  const isIn = (folder: string) => [path, real].some((each) => each.startsWith(`${folder}/`))
  if (workspaceRoot !== '' && !real.startsWith(`${await realpath(workspaceRoot).catch(() => workspaceRoot)}/`))
    return 'it lies outside of IAC_WORKSPACE_ROOT'
  const isTaken = [...SYSTEM, dataDir, pluginCacheDir].some((folder) => isOrHolds(folder) || isIn(folder))
  if (!isTaken && ![...SHARED, PROGRAM].some(isOrHolds)) return null
  return 'it holds files of the machine or of the iac service; name a folder that holds the configuration alone'
}

/** Returns the diagnostic for a workspace that is no longer the folder that was asked for. */
export async function refuseMoved(workspace: string): Promise<string | null> {
  if ((await realpath(workspace).catch(() => workspace)) === workspace) return null
  return `Error: Workspace refused\n\n  ${workspace}\n\nA link has taken the place of this folder while the job waited.\n`
}
