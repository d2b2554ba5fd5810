import { joinNames } from '../../base/text.ts'
import { isMoved, toReportAction } from '../actions.ts'
import { stripBackticks, withoutIndexes } from '../addresses.ts'
import { describesCode, type Plan, type ResourceChange } from '../plan.ts'
import { changesByAddress, isCreated, managedChanges, stateIdentifiers } from '../planned-changes.ts'
import { changesStateAlone } from '../state-arguments.ts'
import { findUnplannedBlocks } from '../targets.ts'
import { isArgument } from './inventory.ts'

/** An identifier and the resource block to import it to. */
export interface Pair {
  address: string
  resource_id: string
}

export interface Failure extends Pair {
  error: string
}

const NO_SUCH_RESOURCE = 'the plan has no such resource'

/** Reports whether a pair was refused for an invented address, which is no fault of the code. */
export const isInvented = ({ error }: Failure): boolean => error === NO_SUCH_RESOURCE

const INDEX = String.raw`(?:\[(?:\d+|"(?:\\.|[^"\\])*")\])?`
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_-]*`
const ADDRESS = new RegExp(String.raw`^(?:module\.${NAME}${INDEX}\.)*(?!data\.|module\.)${NAME}\.${NAME}${INDEX}$`, 'u')

/** Reports whether the text has the form of a managed resource's address. */
export const isResourceAddress = (text: string): boolean => isArgument(text) && ADDRESS.test(text)

/**
 * Selects the proposed pairs that may be given to the engine. The identifier must be waiting, the plan must create the
 * address (where the plan describes the code), and neither may repeat. Wrong addresses are refused with a reason;
 * identifiers that are not waiting are only counted, in `foreign`.
 */
export function checkPairs(
  proposals: readonly Pair[],
  context: { pending: readonly string[]; plan: Plan; identity: (id: string) => string },
): { pairs: Pair[]; refused: Failure[]; foreign: number } {
  const pending = new Map(context.pending.map((id) => [context.identity(id), id]))
  const state = stateIdentifiers(context.plan)
  const changes = changesByAddress(context.plan)
  const pairs = new Map<string, Pair>()
  const refused = new Map<string, Failure>()
  const used = new Set<string>()
  let foreign = 0
  for (const pair of proposals) {
    const resourceId = pending.get(context.identity(pair.resource_id.trim()))
    if (resourceId === undefined) foreign++
    if (resourceId === undefined || pairs.has(resourceId)) continue
    const address = stripBackticks(pair.address)
    const error =
      addressFault(address, state, changes, used) ??
      (describesCode(context.plan) ? creationFault(changes.get(address)) : null)
    if (error !== null) {
      refused.set(resourceId, { address: toShortLine(address), resource_id: resourceId, error })
      continue
    }
    used.add(address)
    pairs.set(resourceId, { address, resource_id: resourceId })
    refused.delete(resourceId)
  }
  return { pairs: [...pairs.values()], refused: [...refused.values()], foreign }
}

function addressFault(
  address: string,
  state: ReturnType<typeof stateIdentifiers>,
  changes: ReturnType<typeof changesByAddress>,
  used: ReadonlySet<string>,
): string | null {
  if (!isResourceAddress(address)) return 'this is no address of a resource'
  if (used.has(address)) return 'the address is given to another identifier too'
  if (state.has(address)) return 'the address is managed already'
  const change = changes.get(address)
  return change?.change.importing
    ? 'the resource has an `import` block, which has to be removed: the platform imports'
    : null
}

function creationFault(change: ResourceChange | undefined): string | null {
  if (!change) return NO_SUCH_RESOURCE
  return isCreated(change) ? null : 'the plan does not create this resource'
}

const MAX_SHOWN = 200

/** Turns text of a model into one line of at most 200 characters. */
const toShortLine = (text: string) => {
  const line = text.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ')
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…`.toWellFormed() : line
}

/** Returns proposed blocks that the code declares but a targeted plan lacks; its configuration is complete. */
export function findUnplanned(
  proposals: readonly Pair[],
  context: { pending: readonly string[]; plan: Plan; identity: (id: string) => string },
): string[] {
  const pending = new Set(context.pending.map((id) => context.identity(id)))
  const blocks = new Set(findUnplannedBlocks(context.plan))
  const named = proposals
    .filter(({ resource_id }) => pending.has(context.identity(resource_id.trim())))
    .map(({ address }) => withoutIndexes(stripBackticks(address)))
  return [...new Set(named)].filter((address) => blocks.has(address))
}

/**
 * Returns the text for the generator about one import attempt.
 * @param attempt.unaddressed identifiers without a proposed address
 * @param attempt.lost earlier imports whose block is gone from the code, so that the plan destroys them
 */
export function importFeedback(attempt: {
  imported: readonly Pair[]
  failures: readonly Failure[]
  unaddressed: readonly string[]
  lost: readonly Pair[]
}): string {
  const { imported, failures, unaddressed, lost } = attempt
  const blocks = [
    renderBlock('Imported, leave their blocks where they are:', imported.map(describePair)),
    renderBlock(
      'Imported, but their block is gone, so that the plan destroys them. Put the block back at the same address:',
      lost.map(describePair),
    ),
    renderBlock(
      'Not imported:',
      failures.map((failure) => `${describePair(failure)}: ${failure.error}`),
    ),
    renderBlock('No resource block of the plan was found for these identifiers:', unaddressed),
  ]
  return blocks.filter((text) => text !== '').join('\n\n')
}

const describePair = ({ address, resource_id }: Pair) => `\`${address}\` (${resource_id})`
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
  const changes = planned
    .filter((change) => !stateAlone.includes(change))
    .map(({ resource, action }) => ({ address: resource.address, action: toReportAction(action) }))
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
