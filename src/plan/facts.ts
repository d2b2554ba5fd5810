import { toReportAction } from './actions.ts'
import { countsInWords, type ListedChange, listChanges } from './change-list.ts'
import { criticalChanges } from './impact.ts'
import type { Plan } from './plan.ts'
import { type BeyondTargets, changesOutsideTargets, describeBeyondTargets } from './targets/targets.ts'

/**
 * Returns facts about a plan as lines for a model: the counts, then one line a change, with a note where it destroys
 * data or access or where no target names it. Not masked.
 * @param beyond further changes of a whole-root plan; null when they are unknown
 */
export function planFacts(plan: Plan, targets: readonly string[], beyond: BeyondTargets | null = null): string {
  const { entries, total, counts } = listChanges(plan, { text: (value) => value })
  const critical = new Map(criticalChanges(plan).map(({ address, criticality }) => [address, criticality]))
  const outside = new Set(changesOutsideTargets(plan, targets).map(({ address }) => address))
  const lines = entries.map((change) => {
    const { address } = change
    const criticality = critical.get(address)
    const notes = [
      criticality === 'data' ? 'holds data' : criticality && 'grants access',
      outside.has(address) && 'not among the targets',
    ]
    return `${describeChange(change)}${notes.some(Boolean) ? ` (${notes.filter(Boolean).join(', ')})` : ''}`
  })
  const shortened = total > lines.length ? [...lines, `and ${total - lines.length} more`] : lines
  const rest = beyond ? [`Not part of this plan, for information only: ${describeBeyondTargets(beyond)}`] : []
  return [countsInWords(counts), ...shortened, ...rest].join('\n')
}

const describeChange = ({ action, address, previous_address: before }: ListedChange): string =>
  `${toReportAction(action)} ${address}${before === undefined ? '' : `, which was ${before}`}`
