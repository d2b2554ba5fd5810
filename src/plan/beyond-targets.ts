import { plannedChanges } from './changes.ts'
import type { Plan, PlannedChange } from './types.ts'

/** What a plan of the whole root would do that a targeted plan leaves out; `reason` is masked and short. */
export type BeyondTargets = { made: true; changes: PlannedChange[] } | { made: false; reason: string }

/** Changes of the whole root at addresses that the targeted plan does not change, in the plan's order. */
export function changesBeyond(targeted: Plan, whole: Plan): PlannedChange[] {
  const planned = new Set(plannedChanges(targeted).map(({ address }) => address))
  return plannedChanges(whole).filter(({ address }) => !planned.has(address))
}

/** Title of the report entry that tells about them. */
export const BEYOND_TITLE = 'Outside the targets'

export const isBeyondTitle = (title: string): boolean => title.trim().toLowerCase() === BEYOND_TITLE.toLowerCase()

const MAX_LISTED = 50

/** The entry's text: a sentence, then one line `- <action> <address>` for each change. */
export function beyondText(beyond: BeyondTargets): string {
  if (!beyond.made)
    return `What a plan of the whole root would change outside the targets could not be determined: ${beyond.reason}`
  const { changes } = beyond
  if (changes.length === 0) return 'A plan of the whole root changes nothing outside the targets.'
  const lead = `A plan of the whole root would also make ${changes.length === 1 ? 'a change' : `${changes.length} changes`} that this plan leaves out:`
  return [lead, ...changeLines(changes)].join('\n')
}

function changeLines(changes: readonly PlannedChange[]): string[] {
  const lines = changes.slice(0, MAX_LISTED).map(({ address, action }) => `- ${action} ${address}`)
  return changes.length > MAX_LISTED ? [...lines, `- and ${changes.length - MAX_LISTED} more`] : lines
}
