import { isEqualJson, itemsOf, type Json, memberOf } from '../base/json.ts'
import { quoteNames } from '../base/text.ts'
import {
  type DriftOperation,
  driftFacts,
  findDifferences,
  keepPaths,
  listDifferences,
  unmaskedOperations,
} from './drift.ts'
import type { Plan, ResourceChange } from './plan.ts'

/**
 * Whose the differences of a session's plan are. An update is divided by attributes, so that an address may be in
 * several lists.
 */
export interface Attribution {
  /** The code before the session has the same difference, or the refresh found it: others made it. */
  others: DriftOperation[]
  /** Others and the session have both changed it, but not equally. */
  both: DriftOperation[]
  /** Only the session's code has it. */
  own: DriftOperation[]
  /** It cannot be told, because the code before the session could not be planned. */
  unknown: DriftOperation[]
}

type Owner = keyof Attribution

/**
 * Attributes the differences of a session's plan by comparison with a plan of the code before the session over the same
 * state. Objects are compared by their address in the state, so that moves do not matter. What only a plan creates is
 * the session's own, unless the refresh found it deleted: the infrastructure never had it.
 * @param operations those of the session's plan, masked
 * @param base null when the code before the session could not be planned: then only what the refresh found is known
 */
export function attributeDrift(plan: Plan, operations: readonly DriftOperation[], base: Plan | null): Attribution {
  const session = indexByState(plan)
  const before = base && indexByState(base)
  const refreshed = new Map([...refreshedObjects(base), ...refreshedObjects(plan)])
  const found: Attribution = { others: [], both: [], own: [], unknown: [] }
  for (const operation of operations) {
    const entry = session.byAddress.get(operation.address)
    if (!entry) {
      found.unknown.push(operation)
      continue
    }
    const drifted = refreshed.get(entry.id)
    const known = { before: before === null ? null : before.byId.get(entry.id), drifted }
    if (operation.action === 'update resource' && entry.operation.action === 'update resource')
      for (const [owner, part] of divideUpdate(operation, entry.operation, known)) found[owner].push(part)
    else found[ownerOf(entry.operation, known)].push(operation)
  }
  return found
}

type Update = Extract<DriftOperation, { action: 'update resource' }>

/** What is known of an object beside the session's plan. */
interface Known {
  /** The operation of the code before the session; undefined for no difference, null when that code has no plan. */
  before: DriftOperation | null | undefined
  /** What others changed according to the refresh; undefined for nothing. */
  drifted: Drifted | undefined
}

type Drifted = 'deleted' | Difference[]

interface Difference {
  path: string
  from?: Json
  to?: Json
}

/** Indexes the unmasked operations of a plan by address, and by the address that their object has in the state. */
function indexByState(plan: Plan) {
  const operations = new Map(unmaskedOperations(plan).map((operation) => [operation.address, operation]))
  const byAddress = new Map<string, { id: string; operation: DriftOperation }>()
  const byId = new Map<string, DriftOperation>()
  for (const resource of plan.resource_changes) {
    const operation = operations.get(resource.address)
    if (operation === undefined || resource.mode === 'data' || resource.deposed !== undefined) continue
    byAddress.set(resource.address, { id: idOf(resource), operation })
    byId.set(idOf(resource), operation)
  }
  return { byAddress, byId }
}

const idOf = ({ address, previous_address }: Pick<ResourceChange, 'address' | 'previous_address'>) =>
  previous_address ?? address

/** Reads what the refresh of a plan found changed since the state was written, by address in the state. */
function refreshedObjects(plan: Plan | null): [id: string, drifted: Drifted][] {
  return itemsOf(plan?.document.resource_drift).flatMap((entry): [string, Drifted][] => {
    const [address, previous, change] = ['address', 'previous_address', 'change'].map((name) => memberOf(entry, name))
    const id = typeof previous === 'string' ? previous : address
    if (typeof id !== 'string') return []
    if (itemsOf(memberOf(change, 'actions')).includes('delete')) return [[id, 'deleted']]
    const [before = null, after = null] = [memberOf(change, 'before'), memberOf(change, 'after')]
    return [[id, listDifferences(findDifferences({ value: before }, { value: after }))]]
  })
}

function ownerOf(operation: DriftOperation, { before, drifted }: Known): Owner {
  if (operation.action === 'delete resource') return drifted === 'deleted' ? 'others' : 'own'
  if (before === null) return drifted ? 'both' : 'unknown'
  if (before === undefined || before.action === 'delete resource') return 'own'
  if (operation.action === 'create resource') return before.action === 'create resource' ? 'others' : 'both'
  // The code before the session did not have the object at all.
  return 'own'
}

/** Divides an update by the owners of its attributes. A masked attribute stands for all differences inside of it. */
function divideUpdate(operation: Update, unmasked: Update, known: Known): [Owner, Update][] {
  const { before } = known
  if (before !== null && before?.action !== 'update resource') return [[ownerOf(unmasked, known), operation]]
  const owned = listDifferences(unmasked.changes).map((difference) => ({
    path: difference.path,
    owner: before === null ? ownerByRefresh(difference, known.drifted) : ownerByPlan(difference, before),
  }))
  const ownerAt = (path: string): Owner => {
    const inside = owned.filter((one) => isWithin(one.path, path)).map(({ owner }) => owner)
    const [first = 'unknown'] = inside
    if (inside.every((owner) => owner === first)) return first
    return inside.includes('unknown') ? 'unknown' : 'both'
  }
  return OWNERS.flatMap((owner): [Owner, Update][] => {
    const part = keepPaths(operation, (path) => ownerAt(path) === owner)
    return part === null ? [] : [[owner, part]]
  })
}

export const OWNERS: readonly Owner[] = ['others', 'both', 'own', 'unknown']

function ownerByPlan(difference: Difference, before: Update): Owner {
  const earlier = listDifferences(before.changes)
  if (earlier.some((one) => isSame(one, difference))) return 'others'
  return earlier.some(({ path }) => overlaps(path, difference.path)) ? 'both' : 'own'
}

/**
 * Goes by the refresh alone: others changed what it found, and code that still says what it found is not the session's.
 */
function ownerByRefresh(difference: Difference, drifted: Drifted | undefined): Owner {
  if (drifted === undefined || drifted === 'deleted') return 'unknown'
  if (drifted.some((one) => isSame(one, difference))) return 'others'
  return drifted.some(({ path }) => overlaps(path, difference.path)) ? 'both' : 'unknown'
}

const isSame = (a: Difference, b: Difference): boolean =>
  a.path === b.path && isEqualJson(a.from ?? null, b.from ?? null) && isEqualJson(a.to ?? null, b.to ?? null)

/**
 * Reports whether two paths are about the same value, or one is inside of the other; items of a list may have moved.
 */
const overlaps = (a: string, b: string): boolean => {
  const [first, second] = [withoutPositions(a), withoutPositions(b)]
  return isWithin(first, second) || isWithin(second, first)
}

const withoutPositions = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]')

const isWithin = (path: string, outer: string): boolean =>
  outer === '' || path === outer || (path.startsWith(outer) && /[.[]/.test(path[outer.length] ?? ''))

/** Describes, as sentences for people, what cannot be divided between others and the session, and what is not known. */
export function describeDoubts({ both, unknown }: Pick<Attribution, 'both' | 'unknown'>, reason: string): string[] {
  return [
    ...both.map(
      (operation) =>
        `${operation.address} was changed by others and by this session, not equally: the plan keeps what the ` +
        `session wrote (${driftFacts(operation)
          .map(({ text }) => text)
          .join('; ')})`,
    ),
    ...(unknown.length === 0
      ? []
      : [
          `Whose the differences at ${quoteNames([...new Set(unknown.map(({ address }) => address))], MAX_NAMED)} are ` +
            `is not known, since the code from before this session could not be planned: ${reason}`,
        ]),
  ]
}

const MAX_NAMED = 10
