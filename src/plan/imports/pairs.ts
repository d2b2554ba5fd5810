import { joinNames } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import { isMoved, mainAction, toReportAction } from '../actions.ts'
import { stripBackticks, withoutIndexes } from '../addresses.ts'
import type { Plan } from '../plan.ts'
import { changesByAddress, isCreated, managedChanges, stateIdentifiers } from '../planned-changes.ts'
import { changesStateAlone } from '../state-arguments.ts'
import { findUnplannedBlocks } from '../targets.ts'
import { identityOf } from './inventory.ts'

/** An identifier and the resource block to import it to. */
export interface Pair {
  address: string
  resource_id: string
}

export interface Failure extends Pair {
  error: string
}

/** What the pairs are held against. */
export interface PairContext {
  cloud: Cloud
  /** Identifiers that wait for an import. */
  pending: readonly string[]
  plan: Plan
}

/** Returns proposed blocks that the code declares but a targeted plan lacks; its configuration is complete. */
export function findUnplanned(proposals: readonly Pair[], { cloud, pending, plan }: PairContext): string[] {
  const identity = identityOf(cloud)
  const waiting = new Set(pending.map(identity))
  const blocks = new Set(findUnplannedBlocks(plan))
  const named = proposals
    .filter(({ resource_id }) => waiting.has(identity(resource_id.trim())))
    .map(({ address }) => withoutIndexes(stripBackticks(address)))
  return [...new Set(named)].filter((address) => blocks.has(address))
}

/**
 * Returns the text for the generator about one import attempt.
 * @param attempt.unaddressed identifiers without a proposed address
 * @param attempt.lost earlier imports whose block is gone from the code, so that the plan destroys them
 * @param attempt.free addresses of blocks that the plan creates and nothing was imported to
 * @param attempt.takenOut imports that were removed from the state, because the object is that of another block
 * @param attempt.foreign identifiers that were matched with a block and are not to be imported
 */
export function importFeedback(attempt: {
  imported: readonly Pair[]
  failures: readonly Failure[]
  unaddressed: readonly string[]
  lost: readonly Pair[]
  takenOut: readonly Failure[]
  free: readonly string[]
  foreign: readonly string[]
}): string {
  const { imported, failures, unaddressed, lost, takenOut, free, foreign } = attempt
  const waiting = new Set([...[...failures, ...takenOut].map(({ resource_id }) => resource_id), ...unaddressed]).size
  const blocks = [
    free.length < waiting
      ? `Identifiers that wait for an import: ${waiting}. Blocks that the plan has for them: ${free.length}. Each needs one.`
      : '',
    renderBlock('Imported, leave their blocks where they are:', imported.map(describePair)),
    renderBlock(
      'Imported, but their block is gone, so that the plan destroys them. Put the block back at the same address:',
      lost.map(describePair),
    ),
    renderBlock(
      'Imported and taken out of the state again, because the block is not that of the object. Write a block for each ' +
        'that has what the object has, or mend the block:',
      takenOut.map(describeFailure),
    ),
    renderBlock('Not imported:', failures.map(describeFailure)),
    renderBlock('No resource block of the plan was found for these identifiers:', unaddressed),
    renderBlock('Nothing was imported to these blocks:', waiting === 0 ? [] : free),
    renderBlock('Not among the identifiers to import, so that nothing was done with them:', foreign),
  ]
  return blocks.filter((text) => text !== '').join('\n\n')
}

const describePair = ({ address, resource_id }: Pair) => `\`${address}\` (${resource_id})`
const describeFailure = (failure: Failure) => `${describePair(failure)}: ${failure.error}`
const renderBlock = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `- ${line}`)].join('\n')

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
 * Returns advice about objects that are in the state as those of another block: the commands that take them out.
 * @param engine its name
 */
export const takeOut = (misplaced: readonly Failure[], engine = 'Terraform'): string[] =>
  misplaced.map(
    ({ address, resource_id, error }) =>
      `${resource_id} was imported as ${address}, and is another object: ${error}. Take it out of the state before the ` +
      `code is applied: ${engine === 'OpenTofu' ? 'tofu' : 'terraform'} state rm '${address}'`,
  )

/**
 * Returns the pairs with the addresses that code and state have for them by now: where a `moved` block leads, or where
 * the state keeps the identifier.
 */
export function followMoves(imported: readonly Pair[], plan: Plan, identity: (id: string) => string): Pair[] {
  const moves = new Map(plan.resource_changes.filter(isMoved).map((one) => [one.previous_address, one.address]))
  const state = stateIdentifiers(plan)
  const places = new Map([...state].map(([address, id]) => [identity(id), address]))
  const present = (address: string, resourceId: string): string => {
    const moved = moves.get(address)
    if (moved !== undefined) return moved
    return state.has(address) ? address : (places.get(identity(resourceId)) ?? address)
  }
  return imported.map(({ address, resource_id }) => ({ address: present(address, resource_id), resource_id }))
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
  const forgotten = plan.resource_changes.filter((one) => mainAction(one) === 'forget')
  const changes = [
    ...planned
      .filter((change) => !stateAlone.includes(change))
      .map(({ resource, action }) => ({ address: resource.address, action: toReportAction(action) })),
    ...forgotten.map(({ address }) => ({ address, action: 'forget' })),
  ]
  // A plan that moves an object may list it at its old or its new address.
  const held = new Set(state.keys())
  for (const one of plan.resource_changes)
    if (isMoved(one) && one.previous_address !== undefined && held.has(one.previous_address)) held.add(one.address)
  const missing = imported
    .filter(({ address }) => !held.has(address))
    .map(({ address }) => ({ address, action: 'not in the state' }))
  const changed = [...missing, ...changes.filter(({ address }) => addresses.has(address) && held.has(address))]
  const others = changes.filter(({ address }) => !addresses.has(address))
  const aligned = changed.length === 0
  const settings = stateAlone.map(({ resource }) => resource.address)
  const moved = plan.resource_changes.flatMap((one) =>
    isMoved(one) && addresses.has(one.address) ? [`${one.previous_address} to ${one.address}`] : [],
  )
  const verdict = aligned
    ? `Aligned: a plan after the import changes none of the imported resources (${imported.length}).`
    : `Not aligned: a plan after the import still changes ${changed.length} of ${imported.length} ` +
      `imported resources: ${listChanges(changed)}.`
  const parts = [
    verdict,
    settings.length > 0 &&
      `The next apply writes settings of the provider into the state alone: ${joinNames(settings, MAX_NAMED)}.`,
    moved.length > 0 && `The next apply moves in the state alone: ${joinNames(moved, MAX_NAMED)}.`,
    others.length > 0 && `Beyond what was imported it has: ${listChanges(others)}.`,
  ]
  return { aligned, text: parts.filter((part) => part !== false).join(' ') }
}

const listChanges = (changes: readonly { address: string; action: string }[]): string =>
  joinNames(
    changes.map(({ address, action }) => `${address} (${action})`),
    MAX_NAMED,
  )
