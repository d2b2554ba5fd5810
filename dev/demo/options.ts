import { parseArgs } from 'node:util'
import { EXAMPLES } from '../scripted-model/recordings.ts'

export interface DemoOptions {
  request: string
  /** Null: the first sample repository. */
  repo: string | null
  scope: string
  cloud: string
  iac_path: string | null
  json: boolean
  keep: boolean
  embedded: boolean
  data: string | undefined
  /** Null: chosen by the kind of model. */
  limit_s: number | null
}

export const HELP = `Runs the main job once through the public API: a sentence in, a validated plan and an open pull request out.

Usage: npm run demo [-- options]

  --request "<text>"   what to build (default: the recorded request of the samples)
  --repo <https url>   repository (default: the first sample repository)
  --scope <id>         subscription, project or account (default 123456789012)
  --cloud <name>       azure, gcp, aws, oci, kubernetes (default aws)
  --iac-path <dir>     engine root inside the repository (default: its root)
  --mode generate      the only mode for now
  --json               one JSON object as the last line
  --keep               a stack that the demo started stays until Ctrl-C
  --embedded           a stack that the demo starts uses no real services, whatever is set
  --data <dir>         data folder of the stack (default .platform)
  --limit <seconds>    give up after this long (default 120; 3600 with a real model)

A running stack (npm start) is used; otherwise the demo starts one and stops it at the end. Without
--request and --repo that one is all embedded. Exit codes: 0 the round completed and the pull request
is open, 1 it did not, 2 wrong arguments.`

/** Wrong arguments; the text says which. */
export class UsageError extends Error {}

/** Null when only the help was asked for. */
export function readOptions(args: string[]): DemoOptions | null {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  let values: ReturnType<typeof parse>['values']
  const parse = () =>
    parseArgs({
      args,
      options: {
        ...{ request: text, repo: text, scope: text, cloud: text, 'iac-path': text, mode: text, data: text, limit: text },
        ...{ json: flag, keep: flag, embedded: flag, help: { ...flag, short: 'h' } },
      },
    })
  try {
    values = parse().values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
  if (values.help) return null
  if ((values.mode ?? 'generate') !== 'generate')
    throw new UsageError(`The mode '${values.mode}' is not available yet; for now the demo knows --mode generate.`)
  const limit_s = values.limit === undefined ? null : Number(values.limit)
  if (limit_s !== null && !(limit_s > 0)) throw new UsageError(`--limit must be a number of seconds, got '${values.limit}'`)
  return {
    request: values.request ?? EXAMPLES[0] ?? '',
    repo: values.repo ?? null,
    scope: values.scope ?? '123456789012',
    cloud: values.cloud ?? 'aws',
    iac_path: values['iac-path'] ?? null,
    json: values.json ?? false,
    keep: values.keep ?? false,
    embedded: values.embedded ?? (values.request === undefined && values.repo === undefined),
    data: values.data,
    limit_s,
  }
}
