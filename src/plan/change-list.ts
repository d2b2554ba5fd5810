import { itemsOf, type Json, memberOf } from '../base/json.ts'
import type { Masker } from '../base/masking.ts'
import {
  describeChange,
  isMoved,
  type ListedAction,
  mainAction,
  type PlanCounts,
  type StateAction,
  toReportAction,
} from './actions.ts'
import { appendStep } from './addresses.ts'
import { CRITICALITY_IN_WORDS, criticalChanges } from './impact.ts'
import type { Plan, ResourceChange } from './plan.ts'
import { addressOf } from './planned-changes.ts'
import { changesOutsideTargets } from './targets.ts'

/** One entry of a plan; every text is masked. */
export interface ListedChange {
  address: string
  action: ListedAction
  /** The current address in the state, when it is another one. */
  previous_address?: string
  /** Identifier of an imported object; null when the plan does not state it or it is sensitive. */
  import_id?: string | null
  /** Paths of attributes that force a replacement, for example `tags.owner`. */
  replace_paths?: string[]
  /** The engine's reason, for example `replace_because_tainted`. */
  replace_reason?: string
  /** The engine's reason for a deletion, for example `delete_because_count_index`. */
  delete_reason?: string
  /** True if a replacement leaves the old object in place, unmanaged. */
  keeps_old?: true
}

/** Counts in which an object that is moved or imported counts there as well as under its change. */
type ListedCounts = PlanCounts & { move: number; import: number; forget: number }

export interface ChangeList {
  /** The first 500 changes, in the plan's order. */
  entries: ListedChange[]
  total: number
  counts: ListedCounts
}

const MAX_ENTRIES = 500
const MAX_PATHS = 10
/** Longest identifier that is shown, in UTF-16 units. */
const MAX_ID = 300

/** Lists what a plan does with managed objects, including moves, imports and forgotten objects. */
export function listChanges(plan: Plan, masker: Pick<Masker, 'text'>): ChangeList {
  const changes = plan.resource_changes.flatMap((resource) => {
    const action = mainAction(resource)
    return action === 'none' || action === 'read' ? [] : [{ resource, action }]
  })
  const count = (action: ListedAction) => changes.filter((change) => change.action === action).length
  return {
    entries: changes.slice(0, MAX_ENTRIES).map(({ resource, action }) => describe(resource, action, masker)),
    total: changes.length,
    counts: {
      create: count('create'),
      update: count('update'),
      delete: count('delete'),
      replace: count('replace'),
      move: changes.filter(({ resource }) => isMoved(resource)).length,
      import: changes.filter(({ resource }) => resource.change.importing).length,
      forget: count('forget'),
    },
  }
}

function describe(resource: ResourceChange, action: ListedAction, masker: Pick<Masker, 'text'>): ListedChange {
  const { change, previous_address, action_reason } = resource
  const paths = forcedBy(resource).slice(0, MAX_PATHS)
  return {
    address: masker.text(addressOf(resource)),
    action,
    ...(isMoved(resource) && previous_address && { previous_address: masker.text(previous_address) }),
    ...(change.importing && { import_id: shownId(memberOf(change.importing, 'id'), masker) }),
    ...(action === 'replace' && paths.length > 0 && { replace_paths: paths.map((path) => masker.text(path)) }),
    ...(action === 'replace' && action_reason && { replace_reason: masker.text(action_reason) }),
    ...(action === 'delete' && action_reason && { delete_reason: masker.text(action_reason) }),
    ...(action === 'replace' && change.actions.includes('forget') && { keeps_old: true as const }),
  }
}

/**
 * Returns the identifier of an import; null when it is empty, too long or would need masking, as the rest may reveal
 * that part.
 */
export function shownId(id: Json | undefined, masker: Pick<Masker, 'text'>): string | null {
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) return null
  return masker.text(id) === id ? id : null
}

/** Returns the paths of the attributes that force a replacement, for example `tags.owner`; not masked. */
export const forcedBy = ({ change }: ResourceChange): string[] =>
  itemsOf(change.replace_paths)
    .map(renderPath)
    .filter((path) => path !== '')

/** Writes a path as the engine's language does: `["tags", "a b", 0]` becomes `tags["a b"][0]`. */
export const renderPath = (path: Json): string =>
  itemsOf(path).reduce<string>((start, step) => appendStep(start, step), '')

/** A change of the state alone; an object that is also changed, or moved and imported at once, has several. */
export interface StateChange {
  address: string
  action: StateAction
  previous_address?: string
}

/** Lists what the listed changes do in the state alone, in their order. */
export const stateChanges = (entries: readonly ListedChange[]): StateChange[] =>
  entries.flatMap(({ address, action, previous_address, import_id }): StateChange[] => [
    ...(previous_address === undefined ? [] : [{ address, action: 'move' as const, previous_address }]),
    ...(import_id === undefined ? [] : [{ address, action: 'import' as const }]),
    ...(action === 'forget' ? [{ address, action }] : []),
  ])

/** Formats counts: `1 to create, 0 to update, 0 to delete, 0 to recreate, 2 to move`. */
export const countsInWords = (counts: ListedCounts): string =>
  [
    ...(['create', 'update', 'delete', 'replace'] as const),
    ...(['move', 'import', 'forget'] as const).filter((action) => counts[action] > 0),
  ]
    .map((action) => `${counts[action]} to ${toReportAction(action)}`)
    .join(', ')

/**
 * Returns facts about a plan as lines for a model: the counts, then one line a change, with a note where it destroys
 * data or access or where no target names it. Not masked.
 */
export function planFacts(plan: Plan, targets: readonly string[]): string {
  const { entries, total, counts } = listChanges(plan, { text: (value) => value })
  const critical = new Map(criticalChanges(plan).map(({ address, criticality }) => [address, criticality]))
  const outside = new Set(changesOutsideTargets(plan, targets).map(({ address }) => address))
  const lines = entries.map((change) => {
    const { address } = change
    const criticality = critical.get(address)
    const notes = [criticality && CRITICALITY_IN_WORDS[criticality], outside.has(address) && 'not among the targets']
    return `${describeChange(change)}${notes.some(Boolean) ? ` (${notes.filter(Boolean).join(', ')})` : ''}`
  })
  const shortened = total > lines.length ? [...lines, `and ${total - lines.length} more`] : lines
  return [countsInWords(counts), ...shortened].join('\n')
}
