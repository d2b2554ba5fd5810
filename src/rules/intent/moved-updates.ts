import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import { joinNames } from '../../base/text.ts'
import { isMoved } from '../../plan/actions.ts'
import { type DriftOperation, driftOperations, listDifferences } from '../../plan/drift.ts'
import { isRefreshed, type Plan } from '../../plan/plan.ts'
import { changesByAddress } from '../../plan/planned-changes.ts'
import { stepsOf } from './condition.ts'
import { isSelected, type Resource, viewPlan } from './resources.ts'
import type { Statement } from './statement.ts'

/** An object that a plan moves and also changes in place, although no statement of the request asks for the change. */
interface MovedUpdate {
  address: string
  previous_address: string
  /** The attributes that change, masked, with what the code sets them by. */
  attributes: string[]
}

/**
 * Finds moved objects that change unasked, in the plan's order; what others changed outside of the code is left out.
 */
export function findMovedUpdates(statements: readonly Statement[], plan: Plan): MovedUpdate[] {
  const changes = changesByAddress(plan)
  const operations = new Map(driftOperations(plan).map((operation) => [operation.address, operation]))
  return viewPlan(plan).resources.flatMap((resource) => {
    const { address, previous_address, action } = resource
    const change = changes.get(address)
    const operation = operations.get(address)
    if (action !== 'update' || previous_address === null || operation?.action !== 'update resource') return []
    if (!change || !isMoved(change) || isRefreshed(plan, change)) return []
    const names = listDifferences(operation.changes).map(({ path }) => stepsOf(path)[0] ?? '')
    if (statements.some((statement) => asksToUpdate(statement, resource, names))) return []
    return [{ address, previous_address, attributes: describeAttributes(operation, resource) }]
  })
}

function asksToUpdate(statement: Statement, resource: Resource, names: readonly string[]): boolean {
  if (!('type' in statement) || !isSelected(statement, resource)) return false
  if (statement.kind === 'attribute') return names.includes(stepsOf(statement.path)[0] ?? '')
  return statement.kind === 'resource_count' && statement.action === 'update' && statement.value > 0
}

function describeAttributes(
  operation: Extract<DriftOperation, { action: 'update resource' }>,
  { expressions }: Resource,
) {
  // An operation leads from the code to the infrastructure, a plan the other way.
  return listDifferences(operation.changes).map(({ path, from, to }) => {
    const references = referencesIn(memberOf(expressions, stepsOf(path)[0] ?? ''))
    const by = references.length > 0 ? `, set by ${joinNames(references, MAX_REFERENCES)}` : ''
    return `${path} from ${show(to)} to ${show(from)}${by}`
  })
}

const MAX_REFERENCES = 5
const MAX_VALUE = 200

function show(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE).toWellFormed()}…` : text
}

const referencesIn = (expression: Json | undefined): string[] =>
  itemsOf(memberOf(expression, 'references')).filter((name): name is string => typeof name === 'string')

const MAX_LISTED = 20

/** Describes the objects for the generator, one line each with the attributes that change. */
export function movedUpdateFeedback(updates: readonly MovedUpdate[]): string {
  const lines = updates
    .slice(0, MAX_LISTED)
    .map(
      ({ address, previous_address, attributes }) =>
        `- ${address}, moved from ${previous_address}: ${joinNames(attributes, MAX_LISTED)}`,
    )
  return [...lines, ...(updates.length > MAX_LISTED ? [`- and ${updates.length - MAX_LISTED} more`] : [])].join('\n')
}

/** Returns a sentence about them for the beginning of an answer; empty when there are none. */
export const describeMovedUpdates = (updates: readonly MovedUpdate[]): string =>
  updates.length === 0
    ? ''
    : 'The plan moves these objects and also changes them in place, which the request does not ask for: ' +
      `${joinNames(
        updates.map(({ address }) => address),
        10,
      )}.`
