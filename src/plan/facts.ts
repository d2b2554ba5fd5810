import { planCounts, plannedChanges } from './changes.ts'
import { criticalChanges } from './impact.ts'
import type { Plan } from './plan.ts'
import { type BeyondTargets, changesOutsideTargets, describeBeyondTargets } from './targets.ts'

const MAX_LINES = 500

/**
 * What code knows for certain about a plan, as lines for a model that narrates or judges it: the counts, then one line
 * a change, with a note where it destroys data or access or where no target names it.
 * @param beyond what a plan of the whole root would change in addition; null when that was not asked
 */
export function planFacts(plan: Plan, targets: readonly string[], beyond: BeyondTargets | null = null): string {
  const counts = planCounts(plan)
  const critical = new Map(criticalChanges(plan).map(({ address, criticality }) => [address, criticality]))
  const outside = new Set(changesOutsideTargets(plan, targets).map(({ address }) => address))
  const lines = plannedChanges(plan).map(({ address, action }) => {
    const criticality = critical.get(address)
    const notes = [
      criticality === 'data' ? 'holds data' : criticality && 'grants access',
      outside.has(address) && 'not among the targets',
    ]
    return `${action} ${address}${notes.some(Boolean) ? ` (${notes.filter(Boolean).join(', ')})` : ''}`
  })
  const shortened =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`] : lines
  const { create, update, recreate } = counts
  const totals = `${create} to create, ${update} to update, ${counts.delete} to delete, ${recreate} to recreate`
  const rest = beyond ? [`Not part of this plan, for information only: ${describeBeyondTargets(beyond)}`] : []
  return [totals, ...shortened, ...rest].join('\n')
}
