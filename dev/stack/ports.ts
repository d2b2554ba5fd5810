import { createServer } from 'node:net'
import { join } from 'node:path'
import { readText, writeAtomically } from '../files.ts'

/** The ports of the last run. Reusing them keeps addresses in sessions and links valid after a restart. */
export interface Ports {
  /** Starts a service on the port of the last run, or on a free one if that is taken, and remembers the port. */
  stable<T extends { port: number }>(name: string, start: (port: number) => Promise<T>): Promise<T>
  /** Does the same for a process that opens the port itself: returns only the number. */
  reserve(name: string): Promise<number>
}

export async function loadPorts(folder: string, say: (line: string) => void): Promise<Ports> {
  const file = join(folder, 'ports.json')
  const stored = JSON.parse((await readText(file)) ?? '{}') as Record<string, number>
  const remember = async (name: string, port: number) => {
    if (stored[name] === port) return
    stored[name] = port
    await writeAtomically(file, JSON.stringify(stored, null, 1))
  }
  const moved = (name: string, port: number) => {
    if (stored[name] && stored[name] !== port)
      say(`${name}: port ${stored[name]} of the last run is taken, using ${port}`)
  }
  const stable: Ports['stable'] = async (name, start) => {
    const started = await orOther(start, stored[name] ?? 0)
    moved(name, started.port)
    await remember(name, started.port)
    return started
  }
  return { stable, reserve: async (name) => (await stable(name, async (port) => ({ port: await probe(port) }))).port }
}

async function orOther<T>(start: (port: number) => Promise<T>, port: number): Promise<T> {
  try {
    return await start(port)
  } catch (error) {
    if (port === 0 || !isBusy(error)) throw error
    return start(0)
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')

/** Opens a loopback port (0: any), closes it again and returns its number. Errors: `EADDRINUSE`. */
async function probe(port: number): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : port
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
    return probe(port).catch((error: unknown) => {
      if (!isBusy(error)) throw error
      throw new Error(
        `Port ${port} (PLATFORM_PORT) is taken by another program. Stop it, or leave PLATFORM_PORT unset.`,
      )
    })
  }
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + 20; port++) {
    try {
      await probe(port)
      if (port !== DEFAULT_PORT) say(`port ${DEFAULT_PORT} is taken by another program, the core listens on ${port}`)
      return port
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }
  const port = await probe(0)
  say(`port ${DEFAULT_PORT} is taken by another program, the core listens on ${port}`)
  return port
}
