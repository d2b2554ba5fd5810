import { cutMiddle } from '../base/text.ts'
import type { RoundResult } from '../rounds/round-result.ts'

/** Titles of the report entries that code creates from facts beside the plan. */
const TITLES = {
  assumptions: 'Assumptions',
  drift: 'Changes of others taken over',
  notes: 'What was checked, and what was not',
} as const

const MAX_CHARS = 4_000

/** Reports whether code creates the entries of this title, which replace the model's. */
export const isBackgroundTitle = (title: string): boolean =>
  Object.values(TITLES).some((known) => known.toLowerCase() === title.trim().toLowerCase())

/** Returns the entries, one line `- …` for each item; parts without items have none. */
export function backgroundPoints(
  result: Pick<RoundResult, keyof typeof TITLES>,
): { title: string; description: string }[] {
  const leads = {
    assumptions: 'The request left this open, and the code assumes:',
    drift: 'Others had changed this in the infrastructure, and the code now says the same:',
    notes: 'Remarks of code:',
  }
  return (['assumptions', 'drift', 'notes'] as const)
    .filter((part) => result[part].length > 0)
    .map((part) => ({
      title: TITLES[part],
      description: cutMiddle([leads[part], ...result[part].map((item) => `- ${item}`)].join('\n'), MAX_CHARS),
    }))
}
