import { createServer } from 'node:http'
import { join } from 'node:path'
import { readText, writeAtomically } from '../files.ts'
import { listen } from '../server.ts'

/** The ports of the last run. Reusing them keeps addresses in sessions and links valid after a restart. */
export type Ports = Awaited<ReturnType<typeof loadPorts>>

export async function loadPorts(folder: string, say: (line: string) => void) {
  const file = join(folder, 'ports.json')
  const stored = JSON.parse((await readText(file)) ?? '{}') as Record<string, number>
  /** Starts a service on the port of the last run, or on a free one if that is taken, and remembers the port. */
  const stable = async <T extends { port: number }>(name: string, start: (port: number) => Promise<T>): Promise<T> => {
    const last = stored[name] ?? 0
    const started = await start(last).catch((error: unknown) => {
      if (last === 0 || !isBusy(error)) throw error
      return start(0)
    })
    if (started.port === last) return started
    if (last !== 0) say(`${name}: port ${last} of the last run is taken, using ${started.port}`)
    stored[name] = started.port
    await writeAtomically(file, JSON.stringify(stored, null, 1))
    return started
  }
  /** Does the same for a process that opens the port itself: returns only the number. */
  const reserve = async (name: string): Promise<number> =>
    (await stable(name, async (port) => ({ port: await probePort(port) }))).port
  return { stable, reserve }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')

/** Opens a loopback port (0: any), closes it again and returns its number. Errors: `EADDRINUSE`. */
export async function probePort(port = 0): Promise<number> {
  const server = await listen(createServer(), { port })
  await server.close()
  return server.port
}

const DEFAULT_PORT = 8000

/**
 * Finds the port of the core: the wanted one, else the default or the next free one. Errors: the wanted one is taken or
 * no number.
 */
export async function corePort(wanted: string | undefined, say: (line: string) => void): Promise<number> {
  if (wanted?.trim()) {
    const port = Number(wanted)
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new Error(`PLATFORM_PORT must be a port number, got '${wanted}'.`)
    return probePort(port).catch((error: unknown) => {
      if (!isBusy(error)) throw error
      throw new Error(
        `Port ${port} (PLATFORM_PORT) is taken by another program. Stop it, or leave PLATFORM_PORT unset.`,
      )
    })
  }
  for (let port = DEFAULT_PORT; ; port = port < DEFAULT_PORT + 19 ? port + 1 : 0) {
    const found = await probePort(port).catch((error: unknown) => {
      if (port === 0 || !isBusy(error)) throw error
      return null
    })
    if (found === null) continue
    if (found !== DEFAULT_PORT) say(`port ${DEFAULT_PORT} is taken by another program, the core listens on ${found}`)
    return found
  }
}
