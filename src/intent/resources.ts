import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { ownFlag } from '../base/masking.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import { actionOf } from '../plan/changes.ts'
import type { Plan } from '../plan/plan.ts'
import { covers } from '../plan/targets.ts'
import { expressionsByAddress, modulesOf } from '../rules/common/expressions.ts'
import { fits } from './condition.ts'
import type { IntentAction, Marked, Selector } from './types.ts'

/** One instance of a managed resource, in this module or a called one. */
export interface Resource {
  address: string
  /** Where it was before it was moved. */
  previous_address: string | null
  type: string
  name: string
  action: IntentAction | 'none'
  /** Taken out of the state without being destroyed. */
  forgotten: boolean
  /** The planned values; null for a resource that is gone afterwards. */
  values: Marked | null
  /** Arguments of its block. */
  expressions: JsonObject
}

/** What a plan knows, read once for all statements. */
export interface PlanView {
  resources: Resource[]
  /** Names of the root's outputs; null when the plan does not tell. */
  outputs: string[] | null
  /** Whether a type of this name can be in the plan: one that is there, or another one of its providers. */
  speaksOf(type: string): boolean
}

const NOTHING: JsonObject = {}

/** @param types every resource type that the providers have; without it the plan's own types tell which providers there are */
export function viewPlan(plan: Plan, types?: readonly string[]): PlanView {
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
  const rest = plannedResources(plan.document).filter(({ address }) => !listed.has(address))
  const resources = [
    ...changed,
    ...rest.map((resource) => ({ ...resource, expressions: argumentsOf(resource.address) })),
  ]
  return {
    resources,
    outputs: outputsOf(plan.document),
    speaksOf: types ? (type) => types.some((known) => fits(type, known)) : vocabulary(plan, resources),
  }
}

/** What is in the state and left alone: a plan with targets has no change entry for it. */
function plannedResources(document: JsonObject): Resource[] {
  return resourcesOf(member(member(document, 'planned_values'), 'root_module')).flatMap((entry) => {
    const { address, type, name, mode, values, sensitive_values } = entry
    if (typeof address !== 'string' || typeof type !== 'string' || mode === 'data' || !isJsonObject(values)) return []
    const marked: Marked = { value: values, unknown: undefined, sensitive: sensitive_values }
    const known = { previous_address: null, action: 'none', forgotten: false, expressions: NOTHING } as const
    return [{ address, type, name: typeof name === 'string' ? name : '', values: marked, ...known }]
  })
}

const MAX_DEPTH = 40

function resourcesOf(module: Json | undefined, depth = 0): JsonObject[] {
  const own = listOf(member(module, 'resources')).filter(isJsonObject)
  if (depth > MAX_DEPTH) return own
  return [...own, ...listOf(member(module, 'child_modules')).flatMap((child) => resourcesOf(child, depth + 1))]
}

function outputsOf(document: JsonObject): string[] | null {
  const configured = member(member(document.configuration, 'root_module'), 'outputs')
  const planned = member(document.planned_values, 'outputs')
  if (!isJsonObject(document.configuration) && !isJsonObject(planned)) return null
  return [...new Set([configured, planned].flatMap((outputs) => (isJsonObject(outputs) ? Object.keys(outputs) : [])))]
}

function vocabulary(plan: Plan, resources: readonly Resource[]): PlanView['speaksOf'] {
  const types = new Set(resources.map(({ type }) => type.toLowerCase()))
  for (const { module } of modulesOf(plan))
    for (const block of listOf(ownFlag(module, 'resources'))) {
      const type = member(block, 'type')
      if (typeof type === 'string') types.add(type.toLowerCase())
    }
  for (const { type } of resourcesOf(member(member(plan.document.prior_state, 'values'), 'root_module')))
    if (typeof type === 'string') types.add(type.toLowerCase())
  const providers = new Set([...types].map(providerOf))
  const configured = member(plan.document.configuration, 'provider_config')
  if (isJsonObject(configured))
    for (const entry of Object.values(configured)) {
      const name = member(entry, 'name')
      if (typeof name === 'string') providers.add(name.toLowerCase().split('-')[0] ?? '')
    }
  return (type) =>
    type.split('|').some((one) => providers.has(providerOf(one)) || [...types].some((known) => fits(one, known)))
}

const providerOf = (type: string): string => type.trim().toLowerCase().split('_')[0] ?? ''

/** Whether a statement is about a resource. */
export function selects({ type, name, address }: Selector, resource: Resource): boolean {
  if (type !== undefined && !fits(type, resource.type)) return false
  if (name !== undefined && !fits(name, resource.name)) return false
  if (address === undefined) return true
  return [resource.address, resource.previous_address ?? resource.address].some((own) => isAt(address, own))
}

/** An address as a statement spells it: whole, without indexes, as a module around it, or with stars. */
export const isAt = (wanted: string, address: string): boolean =>
  covers(wanted, address) ||
  covers(wanted, withoutIndexes(address)) ||
  fits(wanted, address) ||
  fits(wanted, withoutIndexes(address))

const member = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? ownFlag(value, key) : undefined
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
