import { parseArgs } from 'node:util'

export interface StructureOptions {
  /** Null: this checkout, with the table of rooms. */
  root: string | null
  all: boolean
  json: boolean
  write: boolean
}

export const HELP = `Measures how the code is divided: rooms, imports between them, cycles, sizes of files and functions. Compares the imports
with the table of rooms in dev/structure/rooms.ts, from which also the table in AGENTS.md comes.

Usage: npm run structure [-- options]

  --all            also lists every file, function and line that is over an aim
  --json           one JSON object instead of the text
  --write          first writes the table in AGENTS.md from dev/structure/rooms.ts
  --root <folder>  measures another checkout, an older one for example, without the table: each folder is a room

Exit codes: 0 in order, 1 a cycle, an import that the table forbids, or a file that is out of step with the table,
2 wrong arguments or files that cannot be read. An aim that is missed is told and fails nothing.`

/** Wrong arguments; the text says which. */
export class UsageError extends Error {}

const flag = { type: 'boolean' } as const
const OPTIONS = { all: flag, json: flag, write: flag, root: { type: 'string' }, help: { ...flag, short: 'h' } } as const
const parse = (args: string[]) => parseArgs({ args, options: OPTIONS })

/** Null when only the help was asked for. Errors: `UsageError`. */
export function readOptions(args: string[]): StructureOptions | null {
  let values: ReturnType<typeof parse>['values']
  try {
    values = parse(args).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
  if (values.help) return null
  if (values.root !== undefined && values.write)
    throw new UsageError('--write belongs to this checkout: it does not go together with --root.')
  return {
    root: values.root ?? null,
    all: values.all ?? false,
    json: values.json ?? false,
    write: values.write ?? false,
  }
}
