import { FLAG, parseOptions, positive, TEXT, UsageError } from '../command.ts'
import { readTimes, USUAL_TIMES } from '../scripted-model/clock.ts'
import { EXAMPLES, type Example, type ExampleName, SCOPE } from '../scripted-model/examples.ts'

/** The modes of the demo: six jobs, two previews, then four rounds that end without a job. */
const JOBS = ['generate', 'partial-drift', 'full-drift', 'partial-import', 'full-import', 'apply'] as const
const PREVIEWS = ['drift-preview', 'import-preview'] as const
const ENDINGS = ['declined', 'question', 'blocked', 'exhausted'] as const
export type DemoMode = (typeof JOBS)[number] | (typeof PREVIEWS)[number] | (typeof ENDINGS)[number]
export const MODES: readonly DemoMode[] = [...JOBS, ...PREVIEWS, ...ENDINGS]

const isEnding = (mode: DemoMode): boolean => ENDINGS.some((ending) => ending === mode)

export const findExample = (mode: DemoMode): Example => EXAMPLES[mode satisfies ExampleName]

/** One sentence on each mode. */
export const SHOWS: Record<DemoMode, string> = {
  generate: 'a sentence becomes code, a reviewed plan and an open pull request',
  'partial-drift': 'one setting was changed by hand; the code follows, for what the request names',
  'full-drift': 'everything that was changed by hand is found, the code follows',
  'partial-import': 'existing resources that the request names get code and come under management',
  'full-import': 'so does everything in the account',
  apply: 'the reviewed plan is applied, exactly that one',
  'drift-preview': 'what was changed by hand is reported, nothing is touched',
  'import-preview': 'everything in the account is listed: managed, not managed, left out',
  declined: 'a request that the guidelines forbid is declined',
  question: 'a question is answered and changes nothing',
  blocked: 'a plan that destroys data locks the session: apply and merge are refused',
  exhausted: 'code that the engine keeps refusing ends the round',
}

export type DemoOptions = NonNullable<ReturnType<typeof readOptions>>

export const HELP = `Shows the platform at work through its public API: from a sentence and a repository to code, a validated plan and an
open pull request.

Usage: npm run demo [-- options]

  --mode <mode>        what to show (default generate):
${MODES.map((mode) => `                         ${mode.padEnd(15)} ${SHOWS[mode]}`).join('\n')}
                         all             each of these, one after the other
  --request "<text>"   what to build, mend or import (default: the recorded request of the mode)
  --repo <https url>   repository (default: the sample repository of the mode)
  --scope <id>         subscription, project or account (default ${SCOPE})
  --cloud <name>       azure, gcp, aws, oci, kubernetes (default aws)
  --iac-path <dir>     engine root inside the repository (default: its root)
  --json               one JSON object as the last line; with --mode all also one for each mode before it
  --trace              print what happened inside: chains, model calls, tools and engine runs, with durations,
                       tokens and cost
  --output             print every line of the engine as it comes
  --keep               a stack that the demo started stays until Ctrl-C
  --embedded           a stack that the demo starts uses no real services, whatever is set
  --data <dir>         data folder of the stack (default .platform)
  --model-clock [<t>]  the scripted model takes the time of a real one: milliseconds to the first token, for each
                       input token, for each one that was sent before, for each output token
                       (default ${Object.values(USUAL_TIMES).join(',')})
  --limit <seconds>    give up on a mode after this long (default 120; 600 with --model-clock, 3600 with a real model)

A running stack (npm start) is used; otherwise the demo starts one and stops it at the end. Without --request and
--repo that stack uses embedded services only. Before a recorded drift, import, apply or blocked request the demo sets
the state of the sample to what it was when the request was recorded. Ctrl-C asks whether to cancel the round.

Exit codes: 0 the platform ended as it should, for example completed with an open pull request, 1 it did not,
2 wrong arguments, 130 interrupted.`

const OPTIONS = {
  ...{ request: TEXT, repo: TEXT, scope: TEXT, cloud: TEXT, 'iac-path': TEXT, mode: TEXT, data: TEXT, limit: TEXT },
  'model-clock': TEXT,
  ...{ json: FLAG, trace: FLAG, output: FLAG, keep: FLAG, embedded: FLAG },
} as const

/** Reads the arguments; null if only the help was requested. Errors: `UsageError`. */
export function readOptions(args: string[]) {
  const { values } = parseOptions(args.map(withUsualTimes), OPTIONS)
  if (values.help) return null
  const mode = readMode(values.mode ?? 'generate')
  const own = (['request', 'repo', 'scope', 'cloud', 'iac-path'] as const).filter((name) => values[name] !== undefined)
  if (own.length > 0 && (mode === 'all' || isEnding(mode)))
    throw new UsageError(`--mode ${mode} plays recorded requests: it takes no --${own[0]}.`)
  const { request = null, repo = null, scope = SCOPE, cloud = 'aws', data, json = false, trace = false } = values
  const { output = false, keep = false, embedded = request === null && repo === null } = values
  return {
    ...{ mode, scope, cloud, data, json, trace, output, keep, embedded },
    /** Null means the recorded request of the mode. */
    request,
    /** Null means the sample repository of the mode. */
    repo,
    iac_path: values['iac-path'] ?? null,
    /** Null: the scripted model answers at once. */
    times: values['model-clock'] === undefined ? null : readTimes(values['model-clock']),
    /** Time limit of each mode in seconds. Null: it depends on the kind of model. */
    limitS: positive('limit', values.limit),
  }
}

/** Adds the usual times to an option that stands alone. */
const withUsualTimes = (arg: string, index: number, args: string[]): string =>
  arg === '--model-clock' && !/^[\d.]/.test(args[index + 1] ?? '')
    ? `${arg}=${Object.values(USUAL_TIMES).join(',')}`
    : arg

function readMode(given: string): DemoMode | 'all' {
  const mode = given === 'all' ? given : MODES.find((one) => one === given)
  if (mode) return mode
  throw new UsageError(`There is no mode '${given}'. The modes are ${[...MODES, 'all'].join(', ')}.`)
}
