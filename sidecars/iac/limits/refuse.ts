import type { IacSettings } from '../settings.ts'
import type { JobKind, JobRecord } from '../types.ts'
import { foreignProviders } from './allowed-providers.ts'
import { diskUse } from './disk-use.ts'

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
