import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'

/** Real path of a workspace, by which jobs queue; null when it is no directory the engine can enter. */
export async function resolveWorkspace(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) return null
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch {
    return null
  }
}
