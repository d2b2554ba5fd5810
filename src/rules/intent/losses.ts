import { isJsonObject, type Json, memberOf } from '../../base/json.ts'
import { escapePattern, joinNames } from '../../base/text.ts'
import { forcedBy } from '../../plan/change-list.ts'
import type { Plan, ResourceChange } from '../../plan/plan.ts'
import { changesByAddress } from '../../plan/planned-changes.ts'
import { judge, stepsOf } from './condition.ts'
import { isDestroyed, isSelected, type PlanView, type Resource, viewPlan } from './resources.ts'
import type { Statement, StatementOf } from './statement.ts'

/** An object that a plan destroys, for good or to create it anew, although no statement of the request asks for it. */
export interface Loss {
  address: string
  action: 'delete' | 'replace'
  /** Address of a new object of the same type, which the code may mean instead; null when there is none. */
  successor: string | null
  /** Paths of the attributes that force a replacement. */
  forced_by: string[]
}

/**
 * Finds what a plan destroys unasked, in the plan's order. A statement asks for a destruction if it counts these
 * deletions or replacements, if it sets a lower number of objects, or if it sets an attribute that forces the
 * replacement.
 * @param own addresses whose destruction comes from the session's code; that of others is no loss of the session
 */
export function findLosses(statements: readonly Statement[], plan: Plan, own: ReadonlySet<string>): Loss[] {
  const view = viewPlan(plan)
  const changes = changesByAddress(plan)
  const losses = view.resources.flatMap((resource) => {
    const change = changes.get(resource.address)
    if (!change?.change.actions.includes('delete') || !own.has(resource.address)) return []
    if (statements.some((statement) => asksToLose(statement, { resource, change }, { view, changes }))) return []
    return [{ resource, change }]
  })
  const created = view.resources.filter(({ action }) => action === 'create')
  const successors = pairWithCreated(losses, created, changes)
  return losses.map(({ resource: { address, action }, change }) => ({
    address,
    action: action === 'replace' ? 'replace' : 'delete',
    successor: successors.get(address) ?? null,
    forced_by: forcedBy(change),
  }))
}

interface Lost {
  resource: Resource
  change: ResourceChange
}
interface Whole {
  view: PlanView
  changes: ReadonlyMap<string, ResourceChange>
}

function asksToLose(statement: Statement, lost: Lost, whole: Whole): boolean {
  if (!('type' in statement) || !isSelected(statement, lost.resource)) return false
  if (statement.kind === 'resource_count') return countAsksToLose(statement, lost, whole)
  if (statement.kind !== 'attribute' || lost.resource.action !== 'replace') return false
  const [attribute = ''] = stepsOf(statement.path)
  return forcedBy(lost.change).some((path) => new RegExp(`^${escapePattern(attribute)}(?![\\w-])`).test(path))
}

/** Counts no more destructions as asked for than the statement names, or than it needs to reach its number. */
function countAsksToLose(
  statement: StatementOf<'resource_count'>,
  { resource }: Lost,
  { view, changes }: Whole,
): boolean {
  const { action, op, value } = statement
  const matches = (one: Resource) => isSelected(statement, one) && fitsBefore(statement, one, changes)
  if (!matches(resource)) return false
  if (action !== undefined) {
    const same = view.resources.filter((one) => one.action === action && matches(one))
    return resource.action === action && value > 0 && (op === 'at_least' || same.length <= value)
  }
  if (resource.action !== 'delete' || op === 'at_least') return false
  const isCounted = view.resources.filter((one) => matches(one))
  const gone = isCounted.filter((one) => one.action === 'delete').length
  const left = isCounted.filter((one) => one.values !== null).length
  const isReplacedByOthers = isCounted.some((one) => one.action === 'create')
  return !isReplacedByOthers && left >= value && left + gone > value
}

/** Judges the conditions of a statement on the values that an object has before it is destroyed. */
function fitsBefore(
  { where }: StatementOf<'resource_count'>,
  resource: Resource,
  changes: ReadonlyMap<string, ResourceChange>,
): boolean {
  const change = changes.get(resource.address)?.change
  const before = isDestroyed(resource) && isJsonObject(change?.before ?? null) ? change : undefined
  const examined =
    before && isJsonObject(before.before)
      ? { ...resource, values: { value: before.before, unknown: undefined, sensitive: before.before_sensitive } }
      : resource
  return where.every((condition) => judge(examined, condition).holds !== false)
}

/** Pairs deleted objects with created ones of their type, each once, those that are most alike first. */
function pairWithCreated(
  losses: readonly Lost[],
  created: readonly Resource[],
  changes: ReadonlyMap<string, ResourceChange>,
): Map<string, string> {
  const pairs = losses.flatMap(({ resource, change }) => {
    if (resource.action !== 'delete') return []
    const alike = created.filter(({ type }) => type === resource.type)
    return alike.map(({ address }) => ({
      from: resource.address,
      to: address,
      likeness:
        likeness(change.change.before, changes.get(address)?.change.after) +
        (hasSameKey(resource.address, address) ? 1 : 0),
    }))
  })
  const taken = new Map<string, string>()
  const used = new Set<string>()
  for (const { from, to } of pairs.toSorted((a, b) => b.likeness - a.likeness)) {
    if (taken.has(from) || used.has(to)) continue
    taken.set(from, to)
    used.add(to)
  }
  return taken
}

/** Counts the attributes that two objects have in common. */
const likeness = (before: Json | undefined, after: Json | undefined): number =>
  isJsonObject(before)
    ? Object.entries(before).filter(
        ([name, value]) => value !== null && JSON.stringify(value) === JSON.stringify(memberOf(after, name)),
      ).length
    : 0

const keyOf = (address: string): string => /\[[^[\]]*\]$/.exec(address)?.[0] ?? ''
const hasSameKey = (from: string, to: string): boolean => keyOf(from) === keyOf(to)

/** Returns a sentence about what a plan destroys unasked, for the beginning of an answer; empty when there is none. */
export function describeLosses(losses: readonly Loss[], known: { asked: boolean }): string {
  if (losses.length === 0) return ''
  const named = joinNames(
    losses.map(({ address, action }) => `${address}${action === 'replace' ? ' (and creates it anew)' : ''}`),
    MAX_NAMED,
  )
  return known.asked
    ? `The plan destroys what the request does not ask to destroy: ${named}.`
    : `The plan destroys ${named}; whether the request asks for it could not be checked.`
}

const MAX_NAMED = 10
const MAX_TOLD = 20

/** Describes unasked destructions for the generator, one line each, with the `moved` blocks that would avoid them. */
export function lossFeedback(losses: readonly Loss[]): string {
  const shown = losses.slice(0, MAX_TOLD)
  const lines = shown.map(({ address, action, successor, forced_by }) => {
    if (action === 'replace')
      return `- ${address} is destroyed and created anew${forced_by.length > 0 ? `, forced by ${joinNames(forced_by, MAX_NAMED)}` : ''}.`
    return `- ${address} is destroyed.${successor === null ? '' : ` ${successor}, of the same type, is created.`}`
  })
  const more = losses.length - shown.length
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : []), ...movedBlocks(shown)].join('\n')
}

/** Writes the blocks of the root that keep deleted objects under their new addresses. */
function movedBlocks(losses: readonly Loss[]): string[] {
  const blocks = losses.flatMap(({ address, successor }) =>
    successor === null ? [] : [`moved {\n  from = ${address}\n  to   = ${successor}\n}`],
  )
  if (blocks.length === 0) return []
  return ['If the new objects are the old ones at another address, these blocks keep them:', ...blocks]
}
