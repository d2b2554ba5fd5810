import { isJsonObject, itemsOf, type JsonObject, memberOf, ownMember } from '../../base/json.ts'
import { actionOf, type ChangeAction } from '../../plan/actions.ts'
import { covers, withoutIndexes } from '../../plan/addresses.ts'
import { modulesOf, type Plan, plannedResources, stateResources } from '../../plan/plan.ts'
import type { Marked } from '../../plan/value-marks.ts'
import { expressionsByAddress } from '../common/expressions.ts'
import { fits } from './glob.ts'
import type { Selector, Statement, StatementOf, StatementResult } from './statement.ts'

/** An instance of a managed resource in any module. */
export interface Resource {
  address: string
  /** Previous address; null when it was not moved. */
  previous_address: string | null
  type: string
  name: string
  action: ChangeAction | 'none'
  /** True if the plan removes it from the state without destroying it. */
  forgotten: boolean
  /** Planned values; null for a resource that will not exist. */
  values: Marked | null
  /** Arguments of its block in the plan's `configuration`. */
  expressions: JsonObject
}

/** The facts about a plan that statements use. */
export type PlanView = ReturnType<typeof viewPlan>

const NOTHING: JsonObject = {}

/**
 * Reads the facts that statements use from a plan.
 * @param types all resource types of the providers; without it, the plan's types indicate its providers
 */
export function viewPlan(plan: Plan, types?: readonly string[]) {
  const expressions = expressionsByAddress(plan)
  const argumentsOf = (address: string) => expressions.get(withoutIndexes(address)) ?? NOTHING
  const changed: Resource[] = plan.resource_changes
    .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
    .map(({ address, previous_address = null, type, name, change }) => ({
      address,
      previous_address,
      type,
      name,
      action: actionOf(change.actions),
      forgotten: change.actions.includes('forget'),
      values: isJsonObject(change.after)
        ? { value: change.after, unknown: change.after_unknown, sensitive: change.after_sensitive }
        : null,
      expressions: argumentsOf(address),
    }))
  const listed = new Set(changed.map(({ address }) => address))
  const rest = unchangedResources(plan).filter(({ address }) => !listed.has(address))
  const resources = [
    ...changed,
    ...rest.map((resource) => ({ ...resource, expressions: argumentsOf(resource.address) })),
  ]
  return {
    resources,
    /** Output names of the root module; null when the plan does not list them. */
    outputs: outputsOf(plan.document),
    /** True if the type occurs in the plan, or a provider of the plan may have it. */
    knowsType: types
      ? (type: string) => types.some((existing) => fits(type, existing))
      : typesOfProviders(plan, resources),
  }
}

/** Returns unchanged resources; a plan with targets has no entries for them. */
function unchangedResources(plan: Plan): Resource[] {
  return plannedResources(plan).flatMap(({ address, type, name, mode, values, sensitive_values }) => {
    if (typeof address !== 'string' || typeof type !== 'string' || mode === 'data' || !isJsonObject(values)) return []
    const marked: Marked = { value: values, unknown: undefined, sensitive: sensitive_values }
    const unchanged = { previous_address: null, action: 'none', forgotten: false, expressions: NOTHING } as const
    return [{ address, type, name: typeof name === 'string' ? name : '', values: marked, ...unchanged }]
  })
}

function outputsOf(document: JsonObject): string[] | null {
  const configured = memberOf(memberOf(document.configuration, 'root_module'), 'outputs')
  const planned = memberOf(document.planned_values, 'outputs')
  if (!isJsonObject(document.configuration) && !isJsonObject(planned)) return null
  return [...new Set([configured, planned].flatMap((outputs) => (isJsonObject(outputs) ? Object.keys(outputs) : [])))]
}

/** Recognises the types in the plan, and types with the prefix of one of its providers. */
function typesOfProviders(plan: Plan, resources: readonly Resource[]): (type: string) => boolean {
  const types = new Set(resources.map(({ type }) => type.toLowerCase()))
  for (const { module } of modulesOf(plan))
    for (const block of itemsOf(ownMember(module, 'resources'))) {
      const type = memberOf(block, 'type')
      if (typeof type === 'string') types.add(type.toLowerCase())
    }
  for (const { type } of stateResources(plan)) if (typeof type === 'string') types.add(type.toLowerCase())
  const providers = new Set([...types].map(providerOf))
  const configured = memberOf(plan.document.configuration, 'provider_config')
  if (isJsonObject(configured))
    for (const entry of Object.values(configured)) {
      const name = memberOf(entry, 'name')
      if (typeof name === 'string') providers.add(name.toLowerCase().split('-')[0] ?? '')
    }
  return (type) =>
    type.split('|').some((one) => providers.has(providerOf(one)) || [...types].some((existing) => fits(one, existing)))
}

const providerOf = (type: string): string => type.trim().toLowerCase().split('_')[0] ?? ''

/** Reports whether a selector includes a resource. */
export function isSelected({ type, name, address }: Selector, resource: Resource): boolean {
  if (type !== undefined && !fits(type, resource.type)) return false
  if (name !== undefined && !fits(name, resource.name)) return false
  if (address === undefined) return true
  return [resource.address, resource.previous_address ?? resource.address].some((own) => isAt(address, own))
}

/** Reports whether a statement means an address: in full, without indexes, by module, or with `*`. */
export const isAt = (wanted: string, address: string): boolean =>
  covers(wanted, address) ||
  covers(wanted, withoutIndexes(address)) ||
  fits(wanted, address) ||
  fits(wanted, withoutIndexes(address))

export const isDestroyed = ({ action }: Resource): boolean => action === 'delete' || action === 'replace'

/** Reports whether the plan changes a resource that a limit on changes does not name. */
export const isOutside = (
  { types, addresses }: StatementOf<'no_changes_outside'>,
  { action, type, address }: Resource,
): boolean => action !== 'none' && !types.some((one) => fits(one, type)) && !addresses.some((one) => isAt(one, address))

/** Most addresses of one statement. */
const MAX_ADDRESSES = 1_000

/** Finds at most 1,000 resources of each statement: those it selects, or those that break it when it covers all. */
export function aboutAddresses(
  results: readonly StatementResult[],
  plan: Plan,
): { result: StatementResult; addresses: string[] }[] {
  if (results.length === 0) return []
  const { resources } = viewPlan(plan)
  return results.map((result) => {
    const about = resources.values().filter((resource) => isAbout(result.statement, resource))
    return { result, addresses: [...about.take(MAX_ADDRESSES).map(({ address }) => address)] }
  })
}

function isAbout(statement: Statement, resource: Resource): boolean {
  switch (statement.kind) {
    case 'resource_count':
      return isSelected(statement, resource) && (statement.action === undefined || statement.action === resource.action)
    case 'attribute':
    case 'unchanged':
      return isSelected(statement, resource)
    case 'no_deletions':
      return isDestroyed(resource)
    case 'no_changes_outside':
      return isOutside(statement, resource)
    case 'output_exists':
      return false
  }
}
