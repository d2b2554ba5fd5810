import { FLAG, parseOptions, positive, TEXT, UsageError, whole } from '../dev/command.ts'
import { HAND_HELP, HAND_OPTIONS, readHandChoice } from './hand/options.ts'

export type EvalOptions = NonNullable<ReturnType<typeof readOptions>>

export const HELP = `Measures how well the platform works with the configured model: runs scenarios through the public API of an
embedded stack and checks the plan of what came out, by code.

Usage: npm run eval [-- options]

  --samples <n>        samples of each scenario (default 1)
  --k <n>              pass@k is printed for this k (default: the number of samples)
  --only <pattern>     scenarios by name, * for any text, | between alternatives: "builtin/*|aws/bucket*"
  --concurrency <n>    samples at the same time (default 2)
  --limit <seconds>    a sample that takes longer has failed (default 900; 120 with --scripted)
  --max-cost <USD>     begin no further sample when this is spent
  --max-tokens <n>     the same for input and output tokens together
  --scripted           the scripted model of the embedded stack: proves the harness, says nothing about any model
  --iac-eval <folder>  also the cases of the published IaC-Eval data set (CSV or JSONL) in this folder; needs opa on PATH
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
  ...{ 'iac-eval': TEXT, resume: TEXT, record: TEXT, data: TEXT },
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
    // One round at a time, because the calls of two could not be told apart.
    concurrency: whole('concurrency', values.concurrency, hand ? 1 : 2, hand ? 1 : 32),
    limitS: whole('limit', values.limit, scripted ? 120 : hand ? 86_400 : 900, 86_400),
    max_cost: positive('max-cost', values['max-cost']),
    max_tokens: positive('max-tokens', values['max-tokens']),
    /** The results file. Null: it is chosen by suite and model. */
    resume,
    /** True if earlier results in the file are dropped. */
    fresh,
    iac_eval: values['iac-eval'] ?? null,
    /** Null if no people answer in place of a model. */
    hand,
  }
}
