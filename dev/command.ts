import { type ParseArgsConfig, parseArgs } from 'node:util'
import { onStopSignal } from '../src/runtime/process-end.ts'

/** Invalid arguments. The text names them. */
export class UsageError extends Error {}

export const TEXT = { type: 'string' } as const
export const FLAG = { type: 'boolean' } as const
const HELP = { help: { type: 'boolean', short: 'h' } } as const

type Options = NonNullable<ParseArgsConfig['options']>

/** Parses the arguments of a command. All commands have `--help`. Errors: `UsageError`. */
export function parseOptions<const O extends Options>(
  args: string[],
  options: O,
  more: { allowPositionals?: boolean; allowNegative?: boolean } = {},
) {
  try {
    return parseArgs({ args, options: { ...options, ...HELP }, ...more })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
}

/** Parses a whole number from 1 to `max`. Errors: `UsageError` that names the option. */
export function whole(name: string, given: string | undefined, otherwise: number, max: number): number {
  if (given === undefined) return otherwise
  const value = Number(given)
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}, got '${given}'`)
  return value
}

/** Parses a number greater than 0. Errors: `UsageError` that names the option. */
export function positive(name: string, given: string | undefined): number | null {
  if (given === undefined) return null
  const value = Number(given)
  if (!(value > 0) || !Number.isFinite(value)) throw new UsageError(`--${name} must be greater than 0, got '${given}'`)
  return value
}

/**
 * Runs a command with the arguments of this process and sets the exit code: the result of `run`, 2 for wrong arguments,
 * 1 for any other error, whose text is printed. Returns when all output was read, so that the process may end at once.
 * @param name as it is typed, for example `npm run demo`
 * @param run returns null when only the help was requested
 */
export async function runCommand(
  name: string,
  help: string,
  run: (args: string[]) => Promise<number | null>,
): Promise<number> {
  try {
    const code = await run(process.argv.slice(2))
    if (code === null) console.log(help)
    return code ?? 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    if (!(error instanceof UsageError)) return 1
    console.error(`${name} -- --help lists the options.`)
    return 2
  } finally {
    await writtenOut()
  }
}

/** Waits until a reader has taken what was written: the exit of the process drops what still waits for a slow one. */
async function writtenOut(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((done) => stream.write('', () => done()))
}

/** Handles SIGINT, SIGTERM and SIGHUP (closed terminal). The exit code is that of an interrupted command. */
export const onInterrupt = (ask: (signal: NodeJS.Signals) => void): void =>
  onStopSignal(ask, { signals: ['SIGINT', 'SIGTERM', 'SIGHUP'], exitCode: 130 })
