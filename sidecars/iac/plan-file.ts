import { lstat } from 'node:fs/promises'
import { join } from 'node:path'

/** A repository could commit the plan's name as a link and have the engine write or read elsewhere. */
export async function refuseLinkedPlan(workspace: string, plan_file: string | undefined): Promise<string | null> {
  if (plan_file === undefined) return null
  const entry = await lstat(join(workspace, plan_file)).catch(() => null)
  if (!entry || entry.isFile()) return null
  return `Error: Plan file refused\n\n  on ${plan_file}\n\nThe name of the plan file is taken by something that is no regular file. Remove it from the repository.\n`
}
