import { withoutIndexes } from '../../plan/addresses.ts'
import { findDependencies } from '../../plan/document/dependencies.ts'
import type { Plan } from '../../plan/plan.ts'
import { fits } from './glob.ts'
import { isAt, isSelected, type Resource, viewPlan } from './resources.ts'
import type { Statement } from './statement.ts'

/** Resources of one block that the plan creates although no statement of the request is about them. */
export interface Addition {
  /** Address without indexes. */
  address: string
  /** Address of a resource that the request asks for and that refers to it, directly or not; null when none does. */
  needed_by: string | null
}

/**
 * Finds what the plan creates beside what the request asks for; nothing when no statement says what it asks for.
 * @param isWritten true for a block that the round wrote, given by type and name
 */
export function findAdditions(
  statements: readonly Statement[],
  plan: Plan,
  isWritten: (type: string, name: string) => boolean,
): Addition[] {
  const { resources } = viewPlan(plan)
  const asked = new Set(
    resources.filter((one) => statements.some((statement) => asksFor(statement, one))).map(({ address }) => address),
  )
  if (asked.size === 0) return []
  const neededBy = findNeeded(plan, asked)
  const additions = new Map<string, Addition>()
  for (const { address, type, name, action } of resources) {
    const block = withoutIndexes(address)
    if (action !== 'create' || asked.has(address) || !isWritten(type, name) || additions.has(block)) continue
    additions.set(block, { address: block, needed_by: neededBy.get(address) ?? null })
  }
  return [...additions.values()]
}

/** Reports whether a statement is about something that shall be there, which this resource is. */
function asksFor(statement: Statement, resource: Resource): boolean {
  switch (statement.kind) {
    case 'resource_count':
      return (
        statement.action !== 'delete' &&
        (statement.value > 0 || statement.op === 'at_least') &&
        isSelected(statement, resource)
      )
    case 'attribute':
      return isSelected(statement, resource)
    case 'no_changes_outside':
      return (
        statement.types.some((type) => fits(type, resource.type)) ||
        statement.addresses.some((address) => isAt(address, resource.address))
      )
    default:
      return false
  }
}

/** Finds what the given resources depend on, each with one of those that do. */
function findNeeded(plan: Plan, asked: ReadonlySet<string>): Map<string, string> {
  const dependenciesOf = findDependencies(plan)
  const needed = new Map<string, string>()
  const open = plan.resource_changes.flatMap(({ address }, index) =>
    asked.has(address) ? [{ index, by: address }] : [],
  )
  for (let next = open.pop(); next; next = open.pop()) {
    const { by } = next
    for (const index of dependenciesOf(next.index).indexes) {
      const address = plan.resource_changes[index]?.address
      if (address === undefined || asked.has(address) || needed.has(address)) continue
      needed.set(address, by)
      open.push({ index, by })
    }
  }
  return needed
}

export const ADDITIONS_TITLE = 'Added beside the request'

const MAX_LISTED = 20

/** Describes additions for a report, with how to refuse them; empty when there are none. */
export function describeAdditions(additions: readonly Addition[]): string {
  const [first] = additions
  if (!first) return ''
  const lines = additions
    .slice(0, MAX_LISTED)
    .map(({ address, needed_by }) => `- ${address}${needed_by ? `, which ${needed_by} refers to` : ''}`)
  const more = additions.length - lines.length
  return [
    `The request does not name these. To refuse one, ask next for: Leave out ${first.address}.`,
    ...lines,
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join('\n')
}
