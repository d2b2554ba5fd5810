import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import { managedChanges } from '../changes.ts'
import type { Plan, ResourceChange } from '../plan.ts'
import type { Pair } from './pairs.ts'

export interface Alignment {
  aligned: boolean
  /** One or two sentences for the report. */
  text: string
}

const MAX_NAMED = 20

/** Advice about blocks whose import failed: applied as they are, they would create the resource a second time. */
export function leftoverBlocks(failed: readonly Pair[], plan: Plan): string[] {
  const changes = changesByAddress(plan)
  const created = failed.filter(({ address }) => {
    const change = changes.get(address)
    return change !== undefined && isCreated(change)
  })
  if (created.length === 0) return []
  const itemsOf = listChanges(created.map(({ address, resource_id }) => ({ address, action: resource_id })))
  return [`Import these or remove their blocks before the code is applied, else they are created anew: ${itemsOf}.`]
}

/**
 * Tells whether state, code and infrastructure agree on what was imported: each address is in the state, and a plan
 * that was made after the imports changes none of them.
 * @param plan null when no plan could be made
 */
export function stateAlignment(imported: readonly Pair[], plan: Plan | null): Alignment {
  if (imported.length === 0) return { aligned: false, text: 'Nothing was imported; the state is unchanged.' }
  if (plan === null) return { aligned: false, text: 'Not known: no plan could be made after the import.' }
  const state = stateIdentifiers(plan)
  const changes = managedChanges(plan).map(({ resource, action }) => ({ address: resource.address, action }))
  const addresses = new Set(imported.map(({ address }) => address))
  const missing = imported
    .filter(({ address }) => !state.has(address))
    .map(({ address }) => ({ address, action: 'not in the state' }))
  const changed = [...missing, ...changes.filter(({ address }) => addresses.has(address) && state.has(address))]
  const others = changes.filter(({ address }) => !addresses.has(address))
  const aligned = changed.length === 0
  const verdict = aligned
    ? `Aligned: a plan after the import changes none of the imported resources (${imported.length}).`
    : `Not aligned: a plan after the import still changes ${changed.length} of ${imported.length} ` +
      `imported resources: ${listChanges(changed)}.`
  return {
    aligned,
    text: others.length === 0 ? verdict : `${verdict} Beyond what was imported it has: ${listChanges(others)}.`,
  }
}

function listChanges(changes: readonly { address: string; action: string }[]): string {
  const shown = changes.slice(0, MAX_NAMED).map(({ address, action }) => `${address} (${action})`)
  return changes.length > MAX_NAMED ? `${shown.join(', ')} and ${changes.length - MAX_NAMED} more` : shown.join(', ')
}

/**
 * Reads the state that a plan was made from: the address of each managed resource with its identifier, which is empty
 * when the resource has none.
 */
export function stateIdentifiers(plan: Plan): Map<string, string> {
  const identifiers = new Map<string, string>()
  const values = memberOf(plan.document.prior_state, 'values')
  collectIdentifiers(memberOf(values, 'root_module'), identifiers)
  return identifiers
}

function collectIdentifiers(module: Json | undefined, identifiers: Map<string, string>): void {
  for (const resource of itemsOf(memberOf(module, 'resources'))) {
    const address = memberOf(resource, 'address')
    if (typeof address !== 'string' || memberOf(resource, 'mode') !== 'managed') continue
    identifiers.set(address, identifierOf(memberOf(resource, 'values')))
  }
  for (const child of itemsOf(memberOf(module, 'child_modules'))) collectIdentifiers(child, identifiers)
}

/** The `arn` of a resource, else its `id`: the contract of the iac service identifies what a state manages so. */
function identifierOf(values: Json | undefined): string {
  for (const value of [memberOf(values, 'arn'), memberOf(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** The plan's changes by address, without data sources and objects left over from interrupted replacements. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Whether the plan would create the resource. Only then can the engine import an object to its address. */
export const isCreated = ({ change }: ResourceChange): boolean =>
  change.importing === undefined && change.actions.length === 1 && change.actions[0] === 'create'
