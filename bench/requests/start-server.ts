import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '../../test/suites/runtimes/install.ts'
import { projectRoot } from '../lib/process.ts'

const LIMIT_MS = 60_000

export interface StartedServer {
  url: string
  pid: number
  stop(): void
}

/**
 * Starts a server and waits for the line that names its address. The log goes to a file: a pipe would have to be read
 * by this busy process and would slow the server down.
 */
export async function startServer(
  runtime: Runtime,
  entry: string,
  options: { args: readonly string[]; env: Record<string, string>; logPath: string },
): Promise<StartedServer> {
  const log = openSync(options.logPath, 'w')
  const child = spawn(runtime.command, [...runtime.args, ...options.args, entry], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...options.env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; await sleep(100)) {
    const text = await readFile(options.logPath, 'utf8')
    const url = /"message":"core ready".*?"address":"([^"]+)"/.exec(text)?.[1]
    if (url && child.pid) return { url, pid: child.pid, stop: () => child.kill('SIGKILL') }
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`${entry} did not start on ${runtime.name}:\n${await readFile(options.logPath, 'utf8')}`)
}
