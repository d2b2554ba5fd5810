import { setTimeout as sleep } from 'node:timers/promises'
import { addEngineForStack } from '../engine/provide.ts'
import { dataFolder, type ReadyStack, runningStack } from '../stack/data-folder.ts'
import { formatLogLine } from '../stack/log-lines.ts'
import { type Stack, startStack } from '../stack/start-stack.ts'
import { DemoError } from './api.ts'
import type { Display } from './display.ts'
import type { DemoOptions } from './options.ts'

/**
 * Finds the stack that runs on the data folder; starts one if there is none.
 * @param limits makes the signal that limits the start; downloads before it have no limit
 */
export async function findStack(
  options: DemoOptions,
  display: Display,
  { interrupted, limit }: { interrupted: AbortSignal; limit(): AbortSignal },
): Promise<{ stack: ReadyStack; own: Stack | null }> {
  const folder = dataFolder(options.data)
  if (!runningStack(folder)) await addEngineForStack(interrupted)
  const signal = limit()
  for (let waiting = false; ; waiting = true) {
    const record = runningStack(folder)
    if (!record) break
    if (record.ready) {
      display.event('stack', `the running one, ${record.ready.url}`)
      return { stack: record.ready, own: null }
    }
    if (!waiting) display.event('stack', `process ${record.owner.pid} is starting it, waiting`)
    await sleep(250, undefined, { signal })
  }
  display.busy('starting the embedded stack')
  const quiet: string[] = []
  const own = await startStack({
    folder,
    env: process.env,
    embedded: options.embedded,
    signal,
    onLine: (name, line) => {
      const text = formatLogLine(name, line, false)
      if (name === 'stack') display.event('stack', line)
      else if (text !== null) quiet.push(text)
      if (quiet.length > 200) quiet.shift()
    },
  })
  display.event('stack', `started, ${own.url}`)
  return { stack: own, own }
}

/** Makes a signal that fires when a process of this command's own stack ends by itself. */
export function createEndSignal(stack: Stack): AbortSignal {
  const controller = new AbortController()
  void stack.failed.then((text) => controller.abort(new DemoError(text, true)))
  return controller.signal
}

/** Leaves the stack running until Ctrl-C. */
export async function keepRunning(stack: Stack, display: Display, signal: AbortSignal): Promise<void> {
  display.line(`\nThe stack keeps running: ${stack.url}/api/docs. Ctrl-C stops it.`)
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await Promise.race([stopped, stack.failed])
}
