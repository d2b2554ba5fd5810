import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'
import { installRuntimes, type Runtime } from '../../test/suites/runtimes/install.ts'

export type StartedServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts a server and waits for the log line with its address. The log goes to a file, because a pipe that this busy
 * process reads would slow the server down.
 */
export async function startServer(
  runtime: Runtime,
  entry: string,
  options: { args: readonly string[]; env: Record<string, string>; logPath: string },
) {
  const log = openSync(options.logPath, 'w')
  const child = spawn(runtime.command, [...runtime.args, ...options.args, entry], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...options.env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(100)) {
    const text = await readFile(options.logPath, 'utf8')
    const url = /"message":"core ready".*?"address":"([^"]+)"/.exec(text)?.[1]
    if (url) return { url, pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') }
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`${entry} did not start on ${runtime.name}:\n${await readFile(options.logPath, 'utf8')}`)
}

/** Finds the runtimes: Node always, the others if they can be installed. */
export async function findRuntimes(notes: string[]): Promise<Runtime[]> {
  try {
    return await installRuntimes()
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    const text = `SKIPPED: Deno and Bun could not be installed (${reason}).`
    console.error(text)
    notes.push(text)
    return [{ name: 'node', version: process.versions.node, command: process.execPath, args: [] }]
  }
}
