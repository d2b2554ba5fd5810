import { isJsonObject, type Json } from '../../base/json.ts'
import { managedChanges } from '../changes.ts'
import type { Plan, ResourceChange } from '../plan.ts'
import type { Pair } from './pairs.ts'

export interface Alignment {
  aligned: boolean
  /** Sentences for the report. */
  text: string
}

const MAX_NAMED = 20

/** What to do about blocks whose import failed: applied as they are, they would make the resource a second time. */
export function leftoverBlocks(failed: readonly Pair[], plan: Plan): string[] {
  const changes = changesByAddress(plan)
  const created = failed.filter(({ address }) => {
    const change = changes.get(address)
    return change !== undefined && isCreated(change)
  })
  if (created.length === 0) return []
  const list = named(created.map(({ address, resource_id }) => ({ address, action: resource_id })))
  return [`Import these or remove their blocks before the code is applied, else they are created anew: ${list}.`]
}

/**
 * Whether state, code and infrastructure agree on what was imported: each address is in the state and a
 * plan made after the imports changes none of them.
 * @param plan null when no plan could be made
 */
export function stateAlignment(imported: readonly Pair[], plan: Plan | null): Alignment {
  if (imported.length === 0) return { aligned: false, text: 'Nothing was imported; the state is unchanged.' }
  if (plan === null) return { aligned: false, text: 'Not known: no plan could be made after the import.' }
  const state = stateOf(plan)
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
    : `Not aligned: a plan after the import still changes ${changed.length} of ${imported.length} imported resources: ${named(changed)}.`
  return {
    aligned,
    text: others.length === 0 ? verdict : `${verdict} Beyond what was imported it has: ${named(others)}.`,
  }
}

function named(changes: readonly { address: string; action: string }[]): string {
  const shown = changes.slice(0, MAX_NAMED).map(({ address, action }) => `${address} (${action})`)
  return changes.length > MAX_NAMED ? `${shown.join(', ')} and ${changes.length - MAX_NAMED} more` : shown.join(', ')
}

/** Addresses of managed resources in the state that a plan was made from, each with its identifier (empty when it has none). */
export function stateOf(plan: Plan): Map<string, string> {
  const found = new Map<string, string>()
  const state = plan.document.prior_state
  const values = isJsonObject(state ?? null) ? member(state, 'values') : undefined
  collect(member(values, 'root_module'), found)
  return found
}

function collect(module: Json | undefined, found: Map<string, string>): void {
  for (const resource of list(member(module, 'resources'))) {
    const address = member(resource, 'address')
    if (typeof address !== 'string' || member(resource, 'mode') !== 'managed') continue
    found.set(address, identifierOf(member(resource, 'values')))
  }
  for (const child of list(member(module, 'child_modules'))) collect(child, found)
}

/** The first of `arn` and `id`, as the iac contract identifies what a state manages. */
function identifierOf(values: Json | undefined): string {
  for (const value of [member(values, 'arn'), member(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** What the plan does at each address; leftovers of interrupted replacements and data sources are left out. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Whether a resource would be made anew: there the engine can import. */
export const isCreated = ({ change }: ResourceChange): boolean =>
  change.importing === undefined && change.actions.length === 1 && change.actions[0] === 'create'

const member = (value: Json | undefined, key: string): Json | undefined =>
  value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
