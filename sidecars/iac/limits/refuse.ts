import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { IacSettings } from '../settings.ts'
import type { JobKind, JobRecord } from '../types.ts'
import { foreignProviders } from './providers.ts'

/** What makes a workspace larger. */
const GROWING: readonly JobKind[] = ['init', 'plan']
/** These start the providers of a workspace. */
const RUNS_PROVIDERS: readonly JobKind[] = ['validate', 'plan', 'show', 'apply', 'import', 'schema', 'diagnostics']

/** Why the operator's limits keep a job from running, as a diagnostic for its caller; null when they do not. */
export async function refuseByLimits(
  settings: IacSettings,
  { kind, workspace_path }: JobRecord,
): Promise<string | null> {
  if (RUNS_PROVIDERS.includes(kind)) {
    const foreign = await foreignProviders(workspace_path, settings.allowed_providers)
    if (foreign.length > 0)
      return `Error: Provider not allowed\n\nThe operator of the iac service allows ${settings.allowed_providers.join(', ')}; this workspace uses ${foreign.join(', ')}.`
  }
  if (settings.max_workspace_bytes > 0 && GROWING.includes(kind)) {
    const used = await diskUse(workspace_path, settings.max_workspace_bytes)
    if (used >= settings.max_workspace_bytes)
      return `Error: Workspace too large\n\nThe workspace uses more than the ${settings.max_workspace_bytes / 1024 ** 2} MiB that the operator of the iac service allows.`
  }
  return null
}

/** Enough for any workspace that is one; more entries count as too much. */
const MAX_ENTRIES = 500_000

/**
 * Bytes that a folder uses, links not followed, so that shared plugins count once and nowhere here.
 * @param stop_at the walk ends when this is reached
 */
export async function diskUse(folder: string, stop_at: number): Promise<number> {
  let total = 0
  let entries = 0
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined && total < stop_at; path = waiting.pop()) {
    const found = await readdir(path, { withFileTypes: true }).catch(() => [])
    entries += found.length
    if (entries > MAX_ENTRIES) return Number.POSITIVE_INFINITY
    for (const entry of found) {
      const child = join(path, entry.name)
      if (entry.isDirectory()) waiting.push(child)
      else if (entry.isFile())
        total += await lstat(child).then(
          ({ size }) => size,
          () => 0,
        )
    }
  }
  return total
}

/** A repository could commit the plan's name as a link and have the engine write or read elsewhere. */
export async function refuseLinkedPlan(workspace: string, plan_file: string | undefined): Promise<string | null> {
  if (plan_file === undefined) return null
  const entry = await lstat(join(workspace, plan_file)).catch(() => null)
  if (!entry || entry.isFile()) return null
  return `Error: Plan file refused\n\n  on ${plan_file}\n\nThe name of the plan file is taken by something that is no regular file. Remove it from the repository.\n`
}
