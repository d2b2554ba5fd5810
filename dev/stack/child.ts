import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { endsWithin, waitUnlessAborted, withTimeLimit } from '../../src/base/time.ts'
import { identify, isAlive, signalGroup } from '../../src/runtime/process-identity.ts'
import type { RunningPostgres } from '../postgres.ts'
import { PROJECT_ROOT } from './data-folder.ts'

/** A process of the stack. It has its own process group, so that only the launcher's signals reach it. */
export type Child = ReturnType<typeof startChild>

export function startChild(options: {
  name: string
  command: string
  args: string[]
  env: Record<string, string | undefined>
  /** Folder for logs. The whole output goes to `<logFolder>/<name>.log`. */
  logFolder: string
  onLine: (line: string) => void
}) {
  const { name } = options
  mkdirSync(options.logFolder, { recursive: true })
  const log = createWriteStream(join(options.logFolder, `${name}.log`), { mode: 0o600 })
  log.on('error', () => {})
  const process_ = spawn(options.command, options.args, {
    cwd: PROJECT_ROOT,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kept: string[] = []
  const waiting = new Map<string, () => void>()
  const take = (line: string) => {
    kept.push(line)
    if (kept.length > 60) kept.shift()
    log.write(`${line}\n`)
    for (const [text, resolve] of waiting) if (line.includes(text)) resolve()
    options.onLine(line)
  }
  for (const stream of [process_.stdout, process_.stderr]) createInterface({ input: stream }).on('line', take)
  const ended = ending(process_, () => log.end())
  return {
    name,
    pid: process_.pid ?? 0,
    /** Returns the last 15 lines that it has written, the oldest first. */
    lastLines: () => kept.slice(-15),
    /** Resolves with a description when the process ends. */
    ended,
    /** Resolves when a line with this text was written. */
    lineWith: (text: string) =>
      new Promise<void>((resolve) => {
        if (kept.some((line) => line.includes(text))) resolve()
        else waiting.set(text, resolve)
      }),
    /** Sends SIGTERM, and SIGKILL to the whole process group if it still runs after the limit. */
    stop: (limitMs: number) => stop(process_, ended, limitMs),
  }
}

function ending(process_: ChildProcess, after: () => void): Promise<string> {
  return new Promise((resolve) => {
    process_.once('error', (error) => resolve(`could not be started: ${error.message}`))
    // The event `close` comes after the last output, unlike `exit`.
    process_.once('close', (code, signal) => {
      after()
      resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`)
    })
  })
}

async function stop(process_: ChildProcess, ended: Promise<string>, limitMs: number): Promise<void> {
  if (process_.pid === undefined || process_.exitCode !== null || process_.signalCode !== null) return
  process_.kill('SIGTERM')
  if (await endsWithin(limitMs, ended)) return
  signalGroup(process_.pid, 'SIGKILL')
  await ended
}

export type Closer = () => Promise<void>
type Watched = Pick<Child, 'name' | 'ended' | 'lastLines'>

const START_LIMIT_MS = 60_000

/** Polls the database server once a second, because it is no child of this process. */
export function watchDatabase({ pid, data_dir }: RunningPostgres, closers: Closer[]): Watched {
  const identity = identify(pid)
  const ended = new Promise<string>((resolve) => {
    const timer = setInterval(() => {
      if (!isAlive(identity)) resolve('ended')
    }, 1_000)
    closers.push(async () => clearInterval(timer))
  })
  const log = () => readFileSync(join(data_dir, 'server.log'), 'utf8').trimEnd().split('\n')
  return { name: 'database', ended, lastLines: () => log().slice(-15) }
}

/** Polls until the address answers 200. Fails when the process ends, or after a minute. */
export async function answers(child: Child, url: string, cancel: AbortSignal | undefined): Promise<void> {
  const poll = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
      await response?.body?.cancel()
      if (response?.ok) return
      await sleep(40)
    }
  }
  const giveUp = new AbortController()
  await withinLimit(child, poll(giveUp.signal), cancel).finally(() => giveUp.abort())
}

/** Waits for `ready`. Fails when the process ends, after a minute, or on the signal. */
export async function withinLimit(child: Child, ready: Promise<unknown>, cancel: AbortSignal | undefined) {
  const failed = (how: string) => new ProcessFailed(child, how)
  const died = child.ended.then((how) => Promise.reject(failed(how)))
  const first = Promise.race([ready, died])
  const late = () => failed(`is not ready after ${START_LIMIT_MS / 1000} s`)
  await withTimeLimit(START_LIMIT_MS, cancel ? waitUnlessAborted(first, cancel) : first, late)
}

/** A process ended during the start. The text names it and ends with its last output. */
class ProcessFailed extends Error {
  constructor(child: Watched, how: string) {
    super([`The process ${child.name} ${how}.`, ...child.lastLines().map((line) => `  ${line}`)].join('\n'))
  }
}

/** Stops everything as soon as one process ends by itself. */
export function firstDeath(children: readonly Watched[], stop: Closer & { running(): boolean }): Promise<string> {
  return new Promise((resolve) => {
    for (const child of children)
      void child.ended.then(async (how) => {
        if (stop.running()) return
        const text = new ProcessFailed(child, how).message
        await stop()
        resolve(text)
      })
  })
}
