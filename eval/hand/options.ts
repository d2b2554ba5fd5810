import { FLAG, TEXT, UsageError, whole } from '../../dev/command.ts'
import { dataFolder } from '../../dev/stack/data-folder.ts'

/** The tasks of `--hand`: play scenarios, only serve, or a helper for the people who answer. */
export type HandTask =
  | { kind: 'play' | 'serve' | 'stats' }
  | { kind: 'next'; waitS: number | null; whole: boolean }
  | { kind: 'show'; call: number; whole: boolean }
  | { kind: 'answer'; call: number; file: string }

export interface HandChoice {
  task: HandTask
  /** Absolute path. */
  folder: string
  /** Undefined means a free port. */
  port: number | undefined
  autoStatus: boolean
}

const HAND_ONLY = {
  ...{ folder: TEXT, port: TEXT, answer: TEXT, show: TEXT, wait: TEXT },
  ...{ serve: FLAG, next: FLAG, stats: FLAG, whole: FLAG, 'auto-status': FLAG },
} as const
export const HAND_OPTIONS = { hand: FLAG, ...HAND_ONLY } as const

export const HAND_HELP = `With --hand people (or programs that think) answer in place of a model, and see what a model sees:

  --hand                      start an endpoint that waits for answers in files, and run the chosen scenarios against it
  --hand --serve              the endpoint alone, for npm start; prints the lines for it
  --hand --next [--whole]     print the next call that waits; block until there is one, with --wait <seconds> so long
  --hand --answer <n> <file>  check an answer and hand it over; - reads it from the standard input
  --hand --show <n> [--whole] print a call again
  --hand --stats [--json]     calls, tokens, prefixes and times so far
  --folder <path>             where endpoint and helpers meet (default .platform/hand); --fresh empties it first
  --port <n>                  port of the endpoint (default: a free one)
  --no-auto-status            also ask for the sentences about what goes on`

type HandValues = {
  [Name in keyof typeof HAND_OPTIONS]?: (typeof HAND_OPTIONS)[Name] extends typeof TEXT ? string : boolean
}

/**
 * Reads the options of `--hand`; null without it. Errors: `UsageError`.
 * @param rest the arguments that are no options
 */
export function readHandChoice(values: HandValues, rest: readonly string[]): HandChoice | null {
  const given = Object.keys(HAND_ONLY).find((name) => values[name as keyof HandValues] !== undefined)
  if (!values.hand && given !== undefined) throw new UsageError(`--${given} belongs to --hand.`)
  const task = values.hand ? readTask(values, rest) : null
  const unused = task?.kind === 'answer' ? rest.slice(1) : rest
  if (unused.length > 0) throw new UsageError(`'${unused[0]}' is no option.`)
  if (!task) return null
  return {
    task,
    folder: dataFolder(values.folder, '.platform/hand'),
    port: values.port === undefined ? undefined : whole('port', values.port, 1, 65_535),
    autoStatus: values['auto-status'] ?? true,
  }
}

const MOST = Number.MAX_SAFE_INTEGER

function readTask(values: HandValues, rest: readonly string[]): HandTask {
  const tasks = (['serve', 'next', 'stats', 'answer', 'show'] as const).filter((name) => values[name] !== undefined)
  const [task, second] = tasks
  if (second !== undefined) throw new UsageError(`--${task} and --${second} exclude each other.`)
  const all = values.whole ?? false
  if (task === 'next')
    return { kind: task, whole: all, waitS: values.wait === undefined ? null : whole('wait', values.wait, 1, 86_400) }
  if (task === 'show') return { kind: task, whole: all, call: whole('show', values.show, 1, MOST) }
  if (task !== 'answer') return { kind: task ?? 'play' }
  const [file] = rest
  if (file === undefined) throw new UsageError('--answer needs the number of the call and a file, or - for the input.')
  return { kind: task, call: whole('answer', values.answer, 1, MOST), file }
}
