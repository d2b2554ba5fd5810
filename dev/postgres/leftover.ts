import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** True if the process exists. It may belong to another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Claims the data folder for this process. Errors: another living process has it. */
export async function takeOwnership(dataDir: string): Promise<void> {
  const owner = Number(await readFile(join(dataDir, 'owner'), 'utf8').catch(() => ''))
  if (owner && owner !== process.pid && isAlive(owner) && (await commandOf(owner)).includes('node'))
    throw new Error(`The database folder ${dataDir} is in use by process ${owner}.`)
  await writeFile(join(dataDir, 'owner'), String(process.pid))
}

export const releaseOwnership = (dataDir: string) => rm(join(dataDir, 'owner'), { force: true })

/** Stops a server whose owner has ended. The file with its process id names it. */
export async function stopLeftover(cluster: string): Promise<void> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!pid || !isAlive(pid)) return
  // The operating system may have reused the number since.
  if (!(await commandOf(pid)).includes('postgres')) return
  await stopServer(pid)
}

/** Requests a fast shutdown, then an immediate one, and finally kills the server. */
export async function stopServer(pid: number): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 3_000],
    ['SIGKILL', 3_000],
  ] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (const end = Date.now() + patience; Date.now() < end; await sleep(20)) if (!isAlive(pid)) return
  }
}

/** Reads the command line of a process. Where the system does not show it, returns a text that fits a server. */
async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => (process.platform === 'linux' ? '' : 'node postgres'))
}
