import { parseArgs } from 'node:util'

export interface MutationOptions {
  seed: number
  /** Mutants to try. */
  count: number
  /** Folders or files from the root of the project. */
  areas: readonly string[]
  /** Mutants that the nearest tests do not notice are not shown to the other tests. */
  relatedOnly: boolean
  json: boolean
}

const AREAS = ['config', 'src', 'routes', 'pipeline', 'sidecars']

export const HELP = `Measures how much the tests notice: changes the code in one small place after the other, and counts the changes
for which a test fails.

Usage: npm run test:mutation [-- options]

  --seed <n>       the same seed draws the same mutants of the same code (default: one of the clock, printed)
  --count <n>      mutants to try (default 60)
  --area <path>    a folder or a file, may be repeated (default ${AREAS.join(', ')})
  --related-only   run only the test files that are nearest to a mutant by imports, not all of npm test
  --json           one JSON object as the last line
  --help

Works in a copy below the temporary folder: the files here are never changed. A mutant counts when the compiler accepts it.
On two busy cores a mutant takes about a minute, and one that the nearest tests do not notice as long as npm test.
Exit codes: 0 measured, whatever the score is, 1 it was not, 2 wrong arguments.`

/** Wrong arguments; the text says which. */
export class UsageError extends Error {}

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const
const OPTIONS = {
  ...{ seed: text, count: text, area: texts },
  ...{ 'related-only': flag, json: flag, help: { ...flag, short: 'h' } },
} as const

/** Null when only the help was asked for. Errors: `UsageError`. */
export function readOptions(args: string[]): MutationOptions | null {
  const values = parse(args)
  if (values.help) return null
  return {
    seed: readNumber('seed', values.seed, Date.now() % 100_000, 0),
    count: readNumber('count', values.count, 60, 1),
    areas: (values.area ?? AREAS).map((area) => area.replace(/\/+$/, '')),
    relatedOnly: values['related-only'] ?? false,
    json: values.json ?? false,
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readNumber(name: string, value: string | undefined, otherwise: number, least: number): number {
  if (value === undefined) return otherwise
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < least)
    throw new UsageError(`--${name} must be a whole number of at least ${least}.`)
  return number
}
