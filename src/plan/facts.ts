import { planCounts, plannedChanges } from './changes.ts'
import { criticalChanges } from './impact.ts'
import type { Plan } from './plan.ts'
import { type BeyondTargets, beyondText, changesOutsideTargets } from './targets.ts'

const MAX_LINES = 500

/**
 * What is certain about a plan, as lines for a model that narrates or judges it: counts, every change,
 * which of them destroy data or access, and which no target named.
 * @param beyond what a plan of the whole root would do beside it, once that is known
 */
export function planFacts(plan: Plan, targets: readonly string[], beyond: BeyondTargets | null = null): string {
  const counts = planCounts(plan)
  const critical = new Map(criticalChanges(plan).map(({ address, holds }) => [address, holds]))
  const outside = new Set(changesOutsideTargets(plan, targets).map(({ address }) => address))
  const lines = plannedChanges(plan).map(({ address, action }) => {
    const holds = critical.get(address)
    const notes = [
      holds === 'data' ? 'holds data' : holds && 'grants access',
      outside.has(address) && 'not among the targets',
    ]
    return `${action} ${address}${notes.some(Boolean) ? ` (${notes.filter(Boolean).join(', ')})` : ''}`
  })
  const shown =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`] : lines
  const { create, update, recreate } = counts
  const totals = `${create} to create, ${update} to update, ${counts.delete} to delete, ${recreate} to recreate`
  const rest = beyond ? [`Not part of this plan, for information only: ${beyondText(beyond)}`] : []
  return [totals, ...shown, ...rest].join('\n')
}
