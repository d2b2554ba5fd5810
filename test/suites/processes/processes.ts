import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const FIXTURE = fileURLToPath(new URL('./fixtures/worker-process.ts', import.meta.url))

export interface WorkerProcess {
  child: ChildProcess
  lines: Record<string, unknown>[]
  /** Resolves when the log has a line with this message. */
  said(message: string): Promise<Record<string, unknown>>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const started: ChildProcess[] = []

/** Starts a worker process and waits until it is ready. */
export async function startWorkerProcess(url: string, ...args: string[]): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [FIXTURE, '--url', url, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  const lines: Record<string, unknown>[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line))
    for (const look of waiting) look()
  })
  const said = (message: string) =>
    new Promise<Record<string, unknown>>((resolve) => {
      const look = () => {
        const line = lines.find((entry) => entry.message === message)
        if (line) {
          waiting.delete(look)
          resolve(line)
        }
      }
      waiting.add(look)
      look()
    })
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  await Promise.race([said('worker ready'), exited.then(() => Promise.reject(new Error('the worker process ended')))])
  return { child, lines, said, exited }
}

export function endWorkerProcesses(): void {
  for (const child of started.splice(0)) child.kill('SIGKILL')
}
