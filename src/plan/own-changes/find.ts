import { isJsonObject, itemsOf, type Json, memberOf } from '../../base/json.ts'
import { type AddressPart, readAddress } from '../addresses.ts'
import { resolveFolder } from '../code/modules.ts'
import { type DriftOperation, listDifferences } from '../drift.ts'
import type { Plan, ResourceChange } from '../plan.ts'
import { newAddresses } from '../planned-changes.ts'
import {
  type ChangedBlock,
  type ChangedBlocks,
  changesItem,
  changesValue,
  readChangedBlocks,
  readText,
  removesKey,
  type Sides,
} from './changed-blocks.ts'

/**
 * Finds operations that would only undo a branch's own changes that are not applied yet, if plan and diff prove it:
 * - the infrastructure never had the resource: the plan creates it and does not list it as deleted by others
 * - the diff removes the block, the call of its module, or the count or key of its instance
 * - the refresh found the resource as in the state, and for each differing attribute the diff changes it, or a variable
 * or local value that it refers to, from the value of the infrastructure to that of the code
 * A model judges all other operations.
 * @param diffs diffs of the branch from the workspace; each may explain an operation
 */
export function findOwnChanges(
  plan: Plan,
  operations: readonly DriftOperation[],
  diffs: readonly string[],
): DriftOperation[] {
  const uncreated = newAddresses(plan)
  const views = diffs.map(readChangedBlocks)
  const changes = new Map(
    plan.resource_changes.filter(({ deposed }) => deposed === undefined).map((change) => [change.address, change]),
  )
  return operations.filter((operation) => {
    const change = changes.get(operation.address)
    if (change === undefined) return false
    if (operation.action === 'delete resource') return uncreated.has(operation.address)
    return views.some((blocks) =>
      operation.action === 'create resource'
        ? isOwnDeletion(plan, change, blocks)
        : isOwnUpdate(plan, operation, { change, blocks }),
    )
  })
}

const labelOf = ({ type, name }: ResourceChange) => `resource ${type}.${name}`

const isTakenAway = (block: ChangedBlock | undefined) => block?.removedHeader === true && !block.addedHeader

function isOwnDeletion(plan: Plan, change: ResourceChange, blocks: ChangedBlocks): boolean {
  const { calls, resource } = readAddress(change.address)
  let place = rootPlace(plan)
  for (const call of calls) {
    const block = blocks.find(place.directory, `module ${call.name}`)
    const inCode = callInCode(place, call.name)
    if (isTakenAway(block) || isOwnInstance(call, { own: block, inCode, place }, blocks)) return true
    const inside = enterModule(place, call.name)
    if (inside === null) return false
    place = inside
  }
  const block = blocks.find(place.directory, labelOf(change))
  const inCode = resourceInCode(place, change)
  return isTakenAway(block) || isOwnInstance(resource, { own: block, inCode, place }, blocks)
}

/** A block or module call that stays in the code. */
interface Repeated {
  /** Its changes in the diff. */
  own: ChangedBlock | undefined
  inCode: Json | undefined
  place: CodePlace
}

/** Reports whether the diff removes one instance of a block that stays. */
function isOwnInstance({ key }: AddressPart, { own, inCode, place }: Repeated, blocks: ChangedBlocks): boolean {
  if (key === null || inCode === undefined) return false
  const isNumber = !key.startsWith('"')
  const expression = memberOf(inCode, isNumber ? 'count_expression' : 'for_each_expression')
  const declarations = declarationsOf(referencesIn(expression), place, blocks)
  const anything: Sides = { code: null, infrastructure: null }
  if (isNumber)
    return (
      (own !== undefined && changesCount(own, 'count')) ||
      declarations.some(({ block, name }) => changesCount(block, name))
    )
  const text = readText(key)
  if (text === null) return false
  return (
    (own !== undefined && (removesKey(own, text) || changesValue(own, 'for_each', anything))) ||
    declarations.some(({ block }) => removesKey(block, text))
  )
}

/** Reports whether the lines change the number of instances; the numbers are in the plan. */
const changesCount = (block: ChangedBlock, name: string): boolean =>
  [...block.removed, ...block.added].some((line) => new RegExp(`^${name}\\s*=`).test(line))

function isOwnUpdate(
  plan: Plan,
  operation: DriftOperation & { action: 'update resource' },
  { change, blocks }: { change: ResourceChange; blocks: ChangedBlocks },
): boolean {
  const addresses = [change.address, change.previous_address]
  const isDrifted = itemsOf(plan.document.resource_drift).some((entry) =>
    [memberOf(entry, 'address'), memberOf(entry, 'previous_address')].some(
      (address) => typeof address === 'string' && addresses.includes(address),
    ),
  )
  const place = readAddress(change.address).calls.reduce<CodePlace | null>(
    (outer, { name }) => outer && enterModule(outer, name),
    rootPlace(plan),
  )
  const inCode = place && resourceInCode(place, change)
  if (isDrifted || !inCode) return false
  const block = blocks.find(place.directory, labelOf(change))
  // In a block that is new under this name every line is added, so changes cannot be told apart.
  const own = block?.addedHeader ? undefined : block
  return listDifferences(operation.changes).every(({ path, from, to }) => {
    const sides: Sides = { code: from ?? null, infrastructure: to ?? null }
    const { first, last, isItem } = readPath(path)
    if (own && (isItem ? changesItem(own, sides) : changesValue(own, last, sides))) return true
    const references = referencesIn(memberOf(memberOf(inCode, 'expressions'), first))
    return declarationsOf(references, place, blocks).some((one) => changesValue(one.block, one.name, sides, true))
  })
}

const SEGMENT = /\[(\d+)\]|\[("(?:\\.|[^"\\])*")\]|([^.[\]]+)/g

/** Splits a path: its first and last name, and whether it ends with an item index. */
function readPath(path: string): { first: string; last: string; isItem: boolean } {
  const segments = [...path.matchAll(SEGMENT)]
  const names = segments.flatMap(([, , quoted, name]) => (quoted ? [JSON.parse(quoted) as string] : (name ?? [])))
  return { first: names[0] ?? '', last: names.at(-1) ?? '', isItem: segments.at(-1)?.[1] !== undefined }
}

/** Lines that changed a referenced value, and its name there. */
interface Declaration {
  block: ChangedBlock
  name: string
}

/** Returns the changes of the referenced variables and local values. */
function declarationsOf(references: readonly string[], place: CodePlace, blocks: ChangedBlocks): Declaration[] {
  const { directory, caller } = place
  return references.flatMap((reference) => {
    const [kind, name = ''] = reference.split('.')
    const found = (inDirectory: string, label: string, nameThere: string): Declaration[] => {
      const block = blocks.find(inDirectory, label)
      return block === undefined ? [] : [{ block, name: nameThere }]
    }
    if (kind === 'local') return found(directory, 'locals', name)
    if (kind !== 'var') return []
    const given = caller
      ? found(caller.place.directory, `module ${caller.name}`, name)
      : found(directory, 'tfvars', name)
    return [...found(directory, `variable ${name}`, 'default'), ...given]
  })
}

/** The location of a module's code and its description in the plan. */
interface CodePlace {
  /** Folder relative to the engine root; empty for the root. */
  directory: string
  /** The module in the plan's `configuration`; undefined when the plan lacks it. */
  module: Json | undefined
  /** The calling module and the name of the call; null for the root. */
  caller: { place: CodePlace; name: string } | null
}

const rootPlace = ({ document }: Plan): CodePlace => ({
  directory: '',
  module: memberOf(document.configuration, 'root_module'),
  caller: null,
})

/** Returns a module call in the plan's `configuration`; undefined when the code has none. */
const callInCode = (place: CodePlace, name: string): Json | undefined =>
  memberOf(memberOf(place.module, 'module_calls'), name)

/** Returns the place of a called module; null when it is outside the engine root or not described. */
function enterModule(place: CodePlace, name: string): CodePlace | null {
  const call = callInCode(place, name)
  const source = memberOf(call, 'source')
  const directory = typeof source === 'string' ? resolveFolder(place.directory, source) : null
  return directory === null ? null : { directory, module: memberOf(call, 'module'), caller: { place, name } }
}

/** Returns the block of a resource in the plan's `configuration`; undefined when the code has none. */
const resourceInCode = (place: CodePlace, { type, name }: Pick<ResourceChange, 'type' | 'name'>) =>
  itemsOf(memberOf(place.module, 'resources')).find(
    (entry) =>
      memberOf(entry, 'mode') === 'managed' && memberOf(entry, 'type') === type && memberOf(entry, 'name') === name,
  )

/** Returns the distinct references of an expression, such as `var.size`; deeper parts are left out. */
function referencesIn(expression: Json | undefined): string[] {
  const found = new Set<string>()
  const visit = (value: Json) => {
    for (const reference of itemsOf(memberOf(value, 'references')))
      if (typeof reference === 'string') found.add(reference.split('.').slice(0, 2).join('.').replace(/\[.*$/, ''))
    if (Array.isArray(value)) for (const item of value) visit(item)
    else if (isJsonObject(value)) for (const member of Object.values(value)) visit(member)
  }
  if (expression !== undefined) visit(expression)
  return [...found]
}
