import { FLAG, parseOptions, positive, TEXT, UsageError, whole } from '../dev/command.ts'
import { dataFolder } from '../dev/stack/data-folder.ts'
import { CASES } from './iac-eval.ts'

/** The tasks of `--hand`: play scenarios, only serve, or a helper for the people who answer. */
export type HandTask =
  | { kind: 'play' | 'serve' | 'stats' }
  | { kind: 'next'; waitS: number | null; whole: boolean }
  | { kind: 'show'; call: number; whole: boolean }
  | { kind: 'answer'; call: number; file: string }

export type HandChoice = NonNullable<ReturnType<typeof readHandChoice>>

const HAND_ONLY = {
  ...{ folder: TEXT, port: TEXT, answer: TEXT, show: TEXT, wait: TEXT },
  ...{ serve: FLAG, next: FLAG, stats: FLAG, whole: FLAG, 'auto-status': FLAG },
} as const
const HAND_OPTIONS = { hand: FLAG, ...HAND_ONLY } as const

const HAND_HELP = `With --hand people (or programs that think) answer in place of a model, and see what a model sees:

  --hand                      start an endpoint that waits for answers in files, and run the chosen scenarios against it
  --hand --serve              the endpoint alone, for npm start; prints the lines for it
  --hand --next [--whole]     print the next call that waits; block until there is one, with --wait <seconds> so long
  --hand --answer <n> <file>  check an answer and hand it over; - reads it from the standard input
  --hand --show <n> [--whole] print a call again
  --hand --stats [--json]     calls, tokens, prefixes and times so far
  --folder <path>             where endpoint and helpers meet (default .platform/hand); --fresh empties it first
  --port <n>                  port of the endpoint (default: a free one)
  --no-auto-status            also ask for the sentences about what goes on`

export type EvalOptions = NonNullable<ReturnType<typeof readOptions>>

export const HELP = `Measures how well the platform works with the configured model: runs scenarios through the public API of an
embedded stack and checks the plan of what came out, by code.

Usage: npm run eval [-- options]

  --samples <n>        samples of each scenario (default 1)
  --k <n>              pass@k is printed for this k (default: the number of samples)
  --only <pattern>     scenarios by name, * for any text, | between alternatives: "builtin/*|aws/bucket*"
  --concurrency <n>    samples at the same time (default 2; 1 with --hand, whose calls name their round)
  --limit <seconds>    a sample that takes longer has failed (default 900; 120 with --scripted)
  --max-cost <USD>     begin no further sample when this is spent
  --max-tokens <n>     the same for input and output tokens together
  --scripted           the scripted model of the embedded stack: proves the harness, says nothing about any model
  --iac-eval <folder>  also the cases of the published IaC-Eval data set in this folder: difficulty_0N/case_NNN, CSV or
                       JSONL; needs opa on PATH
  --iac-eval-cases <which>  of the cases in folders, those with odd numbers (default), even ones, or all
  --emulate aws        answer what plans look up in AWS (zones, images, the account) by moto_server, from PATH
  --resume <file>      results file to go on from (default: one for each suite and model, below the data folder)
  --fresh              begin again: earlier results of the file are removed
  --record <folder>    keep the model traffic of every round there, for npm run replay
  --list               print the scenarios and end
  --json               one JSON object as the last line
  --data <dir>         data folder (default .platform/eval)

${HAND_HELP}

The model is the one that npm start would use: PLATFORM_LLM_MODEL, a provider's key, or PLATFORM_CONFIG. Everything else is
embedded; nothing is written to a git host, a cloud or a database of yours. Finished samples are kept and not run again.
Exit codes: 0 the harness worked, whatever the pass rates are (with --scripted: and every scenario passed), 1 it did not,
2 wrong arguments.`

const OPTIONS = {
  ...{ samples: TEXT, k: TEXT, only: TEXT, concurrency: TEXT, limit: TEXT, 'max-cost': TEXT, 'max-tokens': TEXT },
  ...{ 'iac-eval': TEXT, 'iac-eval-cases': TEXT, emulate: TEXT, resume: TEXT, record: TEXT, data: TEXT },
  ...HAND_OPTIONS,
  ...{ scripted: FLAG, fresh: FLAG, list: FLAG, json: FLAG },
} as const

/** Reads the arguments; null when only the help is wanted. Errors: `UsageError`. */
export function readOptions(args: string[]) {
  const { values, positionals } = parseOptions(args, OPTIONS, { allowPositionals: true, allowNegative: true })
  if (values.help) return null
  const { scripted = false, json = false, list = false, fresh = false, data } = values
  const { only = null, resume = null, record = null } = values
  const hand = readHandChoice(values, positionals)
  if (hand && scripted) throw new UsageError('--hand and --scripted exclude each other.')
  const samples = whole('samples', values.samples, 1, 1000)
  const k = whole('k', values.k, samples, 1000)
  if (k > samples) throw new UsageError(`--k ${k} needs at least as many --samples.`)
  return {
    ...{ samples, k, only, scripted, json, list, record, data },
    concurrency: whole('concurrency', values.concurrency, hand ? 1 : 2, 32),
    limitS: whole('limit', values.limit, scripted ? 120 : hand ? 86_400 : 900, 86_400),
    max_cost: positive('max-cost', values['max-cost']),
    max_tokens: positive('max-tokens', values['max-tokens']),
    /** The results file. Null: it is chosen by suite and model. */
    resume,
    /** True if earlier results in the file are dropped. */
    fresh,
    iac_eval: readIacEval(values['iac-eval'], values['iac-eval-cases']),
    emulate: values.emulate === undefined ? null : oneOf('emulate', values.emulate, ['aws']),
    /** Null if no people answer in place of a model. */
    hand,
  }
}

function readIacEval(folder: string | undefined, cases: string | undefined) {
  if (folder !== undefined) return { folder, cases: oneOf('iac-eval-cases', cases ?? 'odd', CASES) }
  if (cases !== undefined) throw new UsageError('--iac-eval-cases belongs to --iac-eval.')
  return null
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === value)
  if (found === undefined) throw new UsageError(`--${option} is ${allowed.join(', ')}: '${value}'.`)
  return found
}

type HandValues = Partial<ReturnType<typeof parseOptions<typeof HAND_OPTIONS>>['values']>

/**
 * Reads the options of `--hand`; null without it. Errors: `UsageError`.
 * @param rest the arguments that are no options
 */
function readHandChoice(values: HandValues, rest: readonly string[]) {
  const given = Object.keys(HAND_ONLY).find((name) => values[name as keyof HandValues] !== undefined)
  if (!values.hand && given !== undefined) throw new UsageError(`--${given} belongs to --hand.`)
  const task = values.hand ? readTask(values, rest) : null
  const unused = task?.kind === 'answer' ? rest.slice(1) : rest
  if (unused.length > 0) throw new UsageError(`'${unused[0]}' is no option.`)
  if (!task) return null
  return {
    task,
    /** Absolute path. */
    folder: dataFolder(values.folder, '.platform/hand'),
    /** Undefined means a free port. */
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
