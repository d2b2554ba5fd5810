import { isJsonObject, itemsOf, type Json, memberOf } from '../base/json.ts'
import { actionOf, type ChangeAction, mainAction, type PlanCounts, type PlannedChange } from './actions.ts'
import { describesCode, type Plan, type ResourceChange, stateResources } from './plan.ts'

/** Returns the changes of managed resources in the plan's order, without reads of data sources. */
export function managedChanges(plan: Plan): { resource: ResourceChange; action: ChangeAction }[] {
  return plan.resource_changes.flatMap((resource) => {
    const action = resource.mode === 'data' ? 'none' : actionOf(resource.change.actions)
    return action === 'none' ? [] : [{ resource, action }]
  })
}

/** Returns address, type and action of every change, in the plan's order. */
export function plannedChanges(plan: Plan): PlannedChange[] {
  return managedChanges(plan).map(({ resource, action }) => ({
    address: addressOf(resource),
    type: resource.type,
    action,
    ...(action === 'replace' && !resource.change.actions.includes('delete') && { keeps_old: true as const }),
  }))
}

/**
 * Reports whether the plan leaves everything as it is: objects, their places in the state, and outputs. False when its
 * document does not describe the code, and so may leave out more.
 */
export const changesNothing = (plan: Plan): boolean =>
  describesCode(plan) &&
  plan.resource_changes.every((resource) => ['none', 'read'].includes(mainAction(resource))) &&
  !changesOutputs(plan)

/** Reports whether the plan neither destroys nor replaces an object. False when its document does not describe the code. */
export const losesNothing = (plan: Plan): boolean =>
  describesCode(plan) && managedChanges(plan).every(({ action }) => action !== 'delete' && action !== 'replace')

/** Reports whether the plan changes an output of the root. */
export const changesOutputs = ({ document }: Plan): boolean =>
  isJsonObject(document.output_changes) &&
  Object.values(document.output_changes).some(
    (change) => !itemsOf(memberOf(change, 'actions')).every((action) => action === 'no-op'),
  )

/** Counts created, updated, replaced and deleted objects; a replacement counts once. */
export function planCounts(plan: Plan): PlanCounts {
  const counts: PlanCounts = { create: 0, update: 0, delete: 0, replace: 0 }
  for (const { action } of managedChanges(plan)) counts[action]++
  return counts
}

/** Appends the key of a leftover of an interrupted replacement, which has the address of the live object. */
export const addressOf = (resource: ResourceChange) =>
  resource.deposed === undefined ? resource.address : `${resource.address} (deposed object ${resource.deposed})`

/** Types of the engine and of helper providers, which create nothing in a cloud. */
const UTILITY = /^(?:terraform_data|null_resource|(?:random|time)_\w+|local_(?:sensitive_)?file)$/

/** Returns the distinct types that the plan changes. */
export const changedTypes = (plan: Plan): string[] => [...new Set(plannedChanges(plan).map(({ type }) => type))]

/** Reports whether one of these types may exist in a cloud. */
export const touchesCloud = (types: readonly string[]): boolean => types.some((type) => !UTILITY.test(type))

/** Reads the prior state of a plan: each managed address with its identifier, empty for a resource without one. */
export function stateIdentifiers(plan: Plan): Map<string, string> {
  const identifiers = new Map<string, string>()
  for (const { address, mode, values } of stateResources(plan))
    if (typeof address === 'string' && mode === 'managed') identifiers.set(address, identifierOf(values))
  return identifiers
}

/** Returns the `arn`, else the `id`: the contract of the iac sidecar identifies managed resources by these. */
function identifierOf(values: Json | undefined): string {
  for (const value of [memberOf(values, 'arn'), memberOf(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** Indexes changes by address, without data sources and leftovers of interrupted replacements. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Reports whether the plan would create the resource, which an import to its address requires. */
export const isCreated = (resource: ResourceChange): boolean =>
  resource.change.importing === undefined && createsOnly(resource)

const createsOnly = ({ change: { actions } }: ResourceChange): boolean =>
  actions.length === 1 && actions[0] === 'create'
