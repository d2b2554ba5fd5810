import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** An entry of a process's log, a line of JSON. */
export type LogLine = Record<string, unknown>

/** A process of the platform that writes its log as lines of JSON. */
export interface LoggingProcess {
  child: ChildProcess
  lines: LogLine[]
  /** Waits for the entry with this message. Errors: the process ends before. */
  said(message: string): Promise<LogLine>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Runs a script of the repository with no environment but the path. Its errors go to the output of the tests. */
export function startLogging(args: string[], env: Record<string, string | undefined>): LoggingProcess {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: LogLine[] = []
  const looks = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line))
    for (const look of looks) look()
  })
  const closed = once(child, 'close')
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return (await exited).code
  }
  const said = async (message: string) => {
    const found = Promise.withResolvers<LogLine>()
    const look = () => {
      const line = lines.find((entry) => entry.message === message)
      if (line) found.resolve(line)
    }
    looks.add(look)
    look()
    const ended = closed.then(([code]) => {
      throw new Error(`${args.join(' ')} ended with ${code}: ${JSON.stringify(lines.slice(-5))}`)
    })
    return await Promise.race([found.promise, ended]).finally(() => looks.delete(look))
  }
  return { child, lines, said, exited, stop }
}
