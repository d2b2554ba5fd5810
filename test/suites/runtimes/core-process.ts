import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Runtime } from './install.ts'

const ROOT = join(import.meta.dirname, '../../..')
const START_LIMIT_MS = 60_000

export interface CoreProcess {
  url: string
  ready_ms: number
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>
  /** Ends the process after a failed check. */
  kill(): void
}

/** Starts `routes/main.ts` on a runtime and waits until it is ready. */
export async function startCore(runtime: Runtime, env: Record<string, string>): Promise<CoreProcess> {
  const started = performance.now()
  const child = spawn(runtime.command, [...runtime.args, 'routes/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const ready = Promise.withResolvers<string>()
  const read = (line: string) => {
    lines.push(line)
    const address = readyAddress(line)
    if (address) ready.resolve(address)
  }
  createInterface(child.stdout).on('line', read)
  createInterface(child.stderr).on('line', read)
  const fail = (text: string) => ready.reject(new Error([text, ...lines.slice(-15)].join('\n    ')))
  void ended.then((code) => fail(`the core ended with code ${code}`))
  const timer = setTimeout(() => {
    fail('the core was not ready in time')
    child.kill('SIGKILL')
  }, START_LIMIT_MS)
  try {
    const url = await ready.promise
    const stop = () => {
      child.kill('SIGTERM')
      return ended
    }
    return { url, ready_ms: performance.now() - started, stop, kill: () => child.kill('SIGKILL') }
  } finally {
    clearTimeout(timer)
  }
}

function readyAddress(line: string): string | null {
  if (!line.startsWith('{')) return null
  const entry: { message?: string; address?: string } = JSON.parse(line)
  return entry.message === 'core ready' ? (entry.address ?? null) : null
}
