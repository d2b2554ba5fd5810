import { runCommand } from './command.ts'
import { ApiError, DemoError } from './demo/api.ts'
import { createDisplay } from './demo/display.ts'
import { createInterruption } from './demo/live/interruption.ts'
import { type DemoOptions, HELP, readOptions } from './demo/options.ts'
import { runModes } from './demo/run-modes.ts'
import { createEndSignal, findStack, keepRunning } from './demo/stack.ts'
import { dataFolder } from './stack/data-folder.ts'
import type { Stack } from './stack/start-stack.ts'

const LIMIT_S = { scripted: 120, real: 3600 }
const START_LIMIT_S = 90

async function run(options: DemoOptions): Promise<number> {
  const display = createDisplay(process.stdout, process.stdout.isTTY === true && !process.env.NO_COLOR)
  const interruption = createInterruption(display, { input: process.stdin, output: process.stdout })
  const within = (limitS: number, what: string) => {
    const late = new AbortController()
    const text =
      `${what} took longer than ${limitS} s. ` + `The logs are in the folder logs below ${dataFolder(options.data)}.`
    setTimeout(() => late.abort(new DemoError(text)), limitS * 1000).unref()
    return AbortSignal.any([interruption.signal, late.signal])
  }
  let own: Stack | null = null
  try {
    const connection = await findStack(options, display, {
      interrupted: interruption.signal,
      limit: () => within(START_LIMIT_S, 'The start of the stack'),
    })
    own = connection.own
    const limitS = options.limitS ?? (connection.stack.model.scripted ? LIMIT_S.scripted : LIMIT_S.real)
    const gone = own ? [createEndSignal(own)] : []
    const { stack } = connection
    display.event('model', stack.model.scripted ? `${stack.model.name}: plays recorded requests` : stack.model.name)
    const { line, ok } = await runModes({
      options,
      stack,
      display,
      interruption,
      signalFor: (mode) => AbortSignal.any([within(limitS, `The mode ${mode}`), ...gone]),
    })
    display.end()
    if (options.keep && own) await keepRunning(own, display, interruption.signal)
    if (own) await own.stop()
    if (options.json) console.log(JSON.stringify(line))
    if (interruption.wanted) return 130
    return ok ? 0 : 1
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
    return (
      `The platform cannot be reached (${error.cause.message}). Is the stack still running? npm start shows ` +
      'its log.'
    )
  return error instanceof Error ? error.message : String(error)
}

process.exit(
  await runCommand('npm run demo', HELP, async (args) => {
    const options = readOptions(args)
    return options && (await run(options))
  }),
)
