import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, isAlive } from '../../src/runtime/process-identity.ts'
import type { RunningPostgres } from '../postgres.ts'
import type { Child } from './child.ts'

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
export async function withinLimit(
  child: Child,
  ready: Promise<unknown>,
  cancel: AbortSignal | undefined,
): Promise<void> {
  const timer = new AbortController()
  const signal = cancel ? AbortSignal.any([timer.signal, cancel]) : timer.signal
  const late = sleep(START_LIMIT_MS, `is not ready after ${START_LIMIT_MS / 1000} s`, { signal }).catch(
    () => 'was stopped before it was ready',
  )
  const outcome = await Promise.race([ready.then(() => null).catch((error: Error) => error.message), child.ended, late])
  timer.abort()
  cancel?.throwIfAborted()
  if (outcome !== null) throw new ProcessFailed(child, outcome)
}

/** A process ended during the start. The text names it and ends with its last output. */
class ProcessFailed extends Error {
  constructor(child: Watched, how: string) {
    super(
      [
        `The process ${child.name} ${how.replace(`${child.name} `, '')}.`,
        ...child.lastLines().map((line) => `  ${line}`),
      ].join('\n'),
    )
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
