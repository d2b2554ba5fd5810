import { parseArgs } from 'node:util'
import { type DemoMode, isEnding, isMode, MODES, SHOWS } from './modes.ts'

export interface DemoOptions {
  mode: DemoMode | 'all'
  /** Null stands for the recorded request of the mode. */
  request: string | null
  /** Null stands for the sample repository of the mode. */
  repo: string | null
  scope: string
  cloud: string
  iac_path: string | null
  json: boolean
  /** Whether the spans of the session are printed. */
  trace: boolean
  /** Whether every line of the engine is printed. */
  output: boolean
  keep: boolean
  embedded: boolean
  data: string | undefined
  /** Seconds that each mode may take. Null: it depends on the kind of model. */
  limitS: number | null
}

export const HELP = `Shows the platform at work through its public API: a sentence and a repository in, code, a proven plan
and an open pull request out.

Usage: npm run demo [-- options]

  --mode <mode>        what to show (default generate):
${MODES.map((mode) => `                         ${mode.padEnd(15)} ${SHOWS[mode]}`).join('\n')}
                         all             each of these, one after the other
  --request "<text>"   what to build, mend or import (default: the recorded request of the mode)
  --repo <https url>   repository (default: the sample repository of the mode)
  --scope <id>         subscription, project or account (default 123456789012)
  --cloud <name>       azure, gcp, aws, oci, kubernetes (default aws)
  --iac-path <dir>     engine root inside the repository (default: its root)
  --json               one JSON object as the last line; with --mode all also one for each mode before it
  --trace              print what happened inside: chains, model calls, tools and engine runs, with durations,
                       tokens and cost
  --output             print every line of the engine as it comes
  --keep               a stack that the demo started stays until Ctrl-C
  --embedded           a stack that the demo starts uses no real services, whatever is set
  --data <dir>         data folder of the stack (default .platform)
  --limit <seconds>    give up on a mode after this long (default 120; 3600 with a real model)

A running stack (npm start) is used; otherwise the demo starts one and stops it at the end. Without
--request and --repo that one is all embedded. Before a recorded drift, import, apply or blocked request the
state of its sample is set to how the recording began. Ctrl-C asks whether the round is to be cancelled. Exit codes: 0 the platform ended as it should, for
example completed with an open pull request, 1 it did not, 2 wrong arguments,
130 interrupted.`

/** The arguments are wrong. The text says which. */
export class UsageError extends Error {}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const parse = (args: string[]) =>
  parseArgs({
    args,
    options: {
      ...{ request: text, repo: text, scope: text, cloud: text, 'iac-path': text, mode: text, data: text, limit: text },
      ...{ json: flag, trace: flag, output: flag, keep: flag, embedded: flag, help: { ...flag, short: 'h' } },
    },
  })

/** Reads the arguments; null when only the help is wanted. Errors: `UsageError`. */
export function readOptions(args: string[]): DemoOptions | null {
  let values: ReturnType<typeof parse>['values']
  try {
    values = parse(args).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
  if (values.help) return null
  const mode = readMode(values.mode ?? 'generate')
  const own = (['request', 'repo', 'scope', 'cloud', 'iac-path'] as const).filter((name) => values[name] !== undefined)
  if (own.length > 0 && (mode === 'all' || isEnding(mode)))
    throw new UsageError(`--mode ${mode} plays recorded requests: it takes no --${own[0]}.`)
  const limitS = values.limit === undefined ? null : Number(values.limit)
  if (limitS !== null && !(limitS > 0))
    throw new UsageError(`--limit must be a number of seconds, got '${values.limit}'`)
  return {
    mode,
    request: values.request ?? null,
    repo: values.repo ?? null,
    scope: values.scope ?? '123456789012',
    cloud: values.cloud ?? 'aws',
    iac_path: values['iac-path'] ?? null,
    json: values.json ?? false,
    trace: values.trace ?? false,
    output: values.output ?? false,
    keep: values.keep ?? false,
    embedded: values.embedded ?? (values.request === undefined && values.repo === undefined),
    data: values.data,
    limitS: limitS,
  }
}

function readMode(given: string): DemoMode | 'all' {
  if (given === 'all' || isMode(given)) return given
  throw new UsageError(`There is no mode '${given}'. The modes are ${[...MODES, 'all'].join(', ')}.`)
}
