import type { Failure, Pair } from './pairs.ts'

/** What came of one attempt to import. */
export interface ImportAttempt {
  imported: readonly Pair[]
  failures: readonly Failure[]
  /** Identifiers that were given no address. */
  unaddressed: readonly string[]
  /** Imported, and destroyed by the plan: their block is gone. */
  lost: readonly Pair[]
}

/** What the generator is told: the imported list, each failure, and what else is left. */
export function importFeedback({ imported, failures, unaddressed, lost }: ImportAttempt): string {
  const blocks = [
    block('Imported, leave their blocks where they are:', imported.map(named)),
    block(
      'Imported, but their block is gone, so that the plan destroys them. Put the block back at the same address:',
      lost.map(named),
    ),
    block(
      'Not imported:',
      failures.map((failure) => `${named(failure)}: ${failure.error}`),
    ),
    block('No resource block of the plan was found for these identifiers:', unaddressed),
  ]
  return blocks.filter((text) => text !== '').join('\n\n')
}

const named = ({ address, resource_id }: Pair) => `\`${address}\` (${resource_id})`
const block = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `- ${line}`)].join('\n')
