import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from './command.ts'
import { ApiError, DemoError } from './demo/api.ts'
import { createDisplay, type Display } from './demo/display.ts'
import { createInterruption } from './demo/live/interruption.ts'
import { type DemoOptions, HELP, readOptions } from './demo/options.ts'
import { runModes } from './demo/run-mode.ts'
import { addEngineForStack } from './engine/provide.ts'
import { dataFolder, type ReadyStack, runningStack } from './stack/data-folder.ts'
import { type Stack, startStack } from './stack/start-stack.ts'

const LIMIT_S = { scripted: 120, timed: 600, real: 3600 }

async function run(options: DemoOptions): Promise<number> {
  const display = createDisplay(process.stdout)
  const interruption = createInterruption(display, { input: process.stdin, output: process.stdout })
  const within = (limitS: number, what: string) => {
    const late = new AbortController()
    const logs = `The logs are in the folder logs below ${dataFolder(options.data)}.`
    const text = `${what} took longer than ${limitS} s. ${logs}`
    setTimeout(() => late.abort(new DemoError(text)), limitS * 1000).unref()
    return AbortSignal.any([interruption.signal, late.signal])
  }
  let own: Stack | null = null
  try {
    const connection = await findStack(options, display, {
      interrupted: interruption.signal,
      limit: () => within(90, 'The start of the stack'),
    })
    own = connection.own
    const scripted = options.times ? LIMIT_S.timed : LIMIT_S.scripted
    const limitS = options.limitS ?? (connection.stack.model.scripted ? scripted : LIMIT_S.real)
    const gone = new AbortController()
    void own?.failed.then((text) => gone.abort(new DemoError(text, true)))
    const { stack } = connection
    display.event('model', stack.model.scripted ? `${stack.model.name}: plays recorded requests` : stack.model.name)
    const line = await runModes({
      options,
      stack,
      display,
      interruption,
      signalFor: (mode) => AbortSignal.any([within(limitS, `The mode ${mode}`), gone.signal]),
    })
    display.end()
    if (options.keep && own) {
      display.line(`\nThe stack keeps running: ${own.url}/api/docs. Ctrl-C stops it.`)
      await Promise.race([once(interruption.signal, 'abort'), own.failed])
    }
    await own?.stop()
    if (options.json) console.log(JSON.stringify(line))
    if (interruption.wanted) return 130
    return line.ok ? 0 : 1
  } catch (error) {
    display.end()
    console.error(explain(error))
    await own?.stop()
    return interruption.wanted ? 130 : 1
  }
}

function explain(error: unknown): string {
  if (error instanceof ApiError || error instanceof DemoError) return error.message
  if (error instanceof TypeError && error.cause instanceof Error)
    return `The platform cannot be reached (${error.cause.message}). Is the stack still running? npm start shows its log.`
  return error instanceof Error ? error.message : String(error)
}

process.exit(
  await runCommand('npm run demo', HELP, async (args) => {
    const options = readOptions(args)
    return options && (await run(options))
  }),
)

/**
 * Finds the stack that runs on the data folder; starts one if there is none.
 * @param limits makes the signal that limits the start; downloads before it have no limit
 */
async function findStack(
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
      if (options.times) throw new DemoError('The running stack has its own model: --model-clock needs a new one.')
      display.event('stack', `the running one, ${record.ready.url}`)
      return { stack: record.ready, own: null }
    }
    if (!waiting) display.event('stack', `process ${record.owner.pid} is starting it, waiting`)
    await sleep(250, undefined, { signal })
  }
  display.busy('starting the embedded stack')
  const own = await startStack({
    folder,
    env: process.env,
    embedded: options.embedded,
    ...(options.times && { scripted_model: { times: options.times } }),
    signal,
    onLine: (name, line) => {
      if (name === 'stack') display.event('stack', line)
    },
  })
  if (options.times && !own.scripted_model) {
    await own.stop()
    throw new DemoError('--model-clock is a setting of the scripted model, and the stack uses a real one.')
  }
  display.event('stack', `started, ${own.url}`)
  return { stack: own, own }
}
