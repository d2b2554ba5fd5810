import { joinNames } from '../../base/text.ts'
import { toReportAction } from '../actions.ts'
import type { Plan } from '../plan.ts'
import { changesByAddress, isCreated, managedChanges, stateIdentifiers } from '../planned-changes.ts'
import { changesStateAlone } from '../state-arguments.ts'
import type { Pair } from './pairs.ts'

const MAX_NAMED = 20

/** Returns advice about blocks whose import failed: an apply would create the resource a second time. */
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
 * Reports whether state, code and infrastructure agree on the imports: each address is in the state, and a later plan
 * changes none of them, apart from arguments that an import cannot read.
 * @param plan null when no plan could be made
 * @returns `text`: one or two sentences for the report
 */
export function stateAlignment(imported: readonly Pair[], plan: Plan | null): { aligned: boolean; text: string } {
  if (imported.length === 0) return { aligned: false, text: 'Nothing was imported; the state is unchanged.' }
  if (plan === null) return { aligned: false, text: 'Not known: no plan could be made after the import.' }
  const state = stateIdentifiers(plan)
  const addresses = new Set(imported.map(({ address }) => address))
  const planned = managedChanges(plan)
  const stateAlone = planned.filter(({ resource }) => addresses.has(resource.address) && changesStateAlone(resource))
  const changes = planned
    .filter((change) => !stateAlone.includes(change))
    .map(({ resource, action }) => ({ address: resource.address, action: toReportAction(action) }))
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
  const parts = [
    verdict,
    stateAlone.length > 0 &&
      `The next apply writes settings of the provider into the state alone: ${listAddresses(stateAlone)}.`,
    others.length > 0 && `Beyond what was imported it has: ${listChanges(others)}.`,
  ]
  return { aligned, text: parts.filter((part) => part !== false).join(' ') }
}

const listAddresses = (changes: readonly { resource: { address: string } }[]): string =>
  joinNames(
    changes.map(({ resource }) => resource.address),
    MAX_NAMED,
  )

const listChanges = (changes: readonly { address: string; action: string }[]): string =>
  joinNames(
    changes.map(({ address, action }) => `${address} (${action})`),
    MAX_NAMED,
  )
