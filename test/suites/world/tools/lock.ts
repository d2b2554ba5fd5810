import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const AGAIN_MS = 1_000

/**
 * Does the work while nobody else does any under the same name in that folder, also no other process. A lock whose
 * owner is gone is taken over.
 */
export async function withLock<T>(cache: string, name: string, work: () => Promise<T>): Promise<T> {
  const folder = join(cache, `.lock-${name}`)
  const owner = join(folder, 'pid')
  while (!(await take(folder))) {
    const pid = Number(await readFile(owner, 'utf8').catch(() => process.pid))
    if (!isAlive(pid)) await rm(folder, { recursive: true, force: true })
    else await sleep(AGAIN_MS)
  }
  try {
    await writeFile(owner, String(process.pid))
    return await work()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const take = (folder: string): Promise<boolean> =>
  mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
