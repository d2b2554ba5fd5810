import { lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { identify, isAlive } from '../../src/runtime/process-identity.ts'
import { SettingsError } from '../shared/settings.ts'

/** Claims the folder: two services on it would end each other's engines. Errors: `SettingsError`. */
export async function claimDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const stat = await lstat(folder)
  const uid = process.getuid?.()
  // In the shared temporary directory another user could have created the folder to read plans and state.
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid))
    throw new SettingsError(`IAC_DATA_DIR ${folder} is no directory of this user`)
  const claim = join(folder, 'service.json')
  const holder = await readHolder(claim)
  if (holder && holder.pid !== process.pid && isAlive(holder))
    throw new SettingsError(
      `IAC_DATA_DIR ${folder} is in use by process ${holder.pid}; give each service a folder of its own`,
    )
  await writeFile(`${claim}.tmp`, JSON.stringify(identify(process.pid)), { mode: 0o600 })
  await rename(`${claim}.tmp`, claim)
}

async function readHolder(path: string): Promise<{ pid: number; started: string } | null> {
  try {
    const { pid, started } = JSON.parse(await readFile(path, 'utf8'))
    return Number.isInteger(pid) && typeof started === 'string' ? { pid, started } : null
  } catch {
    return null
  }
}
