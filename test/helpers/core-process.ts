import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface CoreProcess {
  /** The line `core ready`. */
  ready: { address: string; metrics?: string }
  lines: string[]
  stop(): Promise<number | null>
  kill(): void
}

/** A core process with nothing of our own environment, ready to be asked. */
export async function startCoreProcess(env: Record<string, string>): Promise<CoreProcess> {
  const child = spawn(process.execPath, ['routes/main.ts'], {
    env: { PATH: process.env.PATH, PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit').then(([code]): number | null => code)
  const lines: string[] = []
  const found = Promise.withResolvers<CoreProcess['ready']>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    const entry = JSON.parse(line)
    if (entry.message === 'core ready') found.resolve(entry)
  })
  void exited.then((code) => found.reject(new Error(`the core ended with ${code}: ${lines.join('\n')}`)))
  const ready = await found.promise
  return {
    ready,
    lines,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
    kill: () => child.kill('SIGKILL'),
  }
}
