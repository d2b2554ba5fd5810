import { isJsonObject, itemsOf, type Json } from '../../base/json.ts'
import { cutEnd } from '../../base/text.ts'
import { actionOf } from '../actions.ts'
import { withoutIndexes } from '../addresses.ts'
import type { Plan, ResourceChange } from '../plan.ts'
import { changesByAddress } from '../planned-changes.ts'
import { hasMark, type Marked, markedItems, markedMember } from '../value-marks.ts'
import { identifyingValues } from './identity.ts'
import type { Failure, Pair } from './pairs.ts'

/** Escapes what the engine would evaluate in a text. */
const literal = (text: string) => text.replaceAll(/([$%])(?=\{)/g, '$1$1')

/** Writes `import` blocks for a plan, in JSON syntax. Both engines read them from Terraform 1.5 and OpenTofu 1.6 on. */
export const importBlocks = (pairs: readonly Pair[]): string =>
  JSON.stringify({ import: pairs.map(({ address, resource_id }) => ({ to: address, id: literal(resource_id) })) })

/**
 * Returns the identifier for an `import` block on Kubernetes, where `import` commands get theirs from the iac service;
 * null for types whose form is not known here.
 */
export function kubernetesImportId({ address, resource_id }: Pair): string | null {
  const type = withoutIndexes(address).split('.').at(-2) ?? ''
  if (type === 'kubernetes_manifest') return resource_id
  const [, namespace, name] =
    /^apiVersion=[^,]+,kind=[^,]+,(?:namespace=([^,]+),)?name=([^,]+)$/.exec(resource_id) ?? []
  if (name === undefined || !type.startsWith('kubernetes_')) return null
  return namespace === undefined ? name : `${namespace}/${name}`
}

/**
 * Compares objects as the provider reads them with the blocks that they were or would be imported to. A block that
 * replaces its object, or gives it another name, is that of another object or describes it wrongly.
 * @param plan one that imports the pairs, or follows their import
 * @returns `seen`: pairs that the plan has an object for; `failures`: those that the block contradicts, unmasked
 */
export function compareImported(plan: Plan, pairs: readonly Pair[]): { seen: Pair[]; failures: Failure[] } {
  const changes = changesByAddress(plan)
  const seen = pairs.filter(({ address }) => isJsonObject(changes.get(address)?.change.before))
  const failures = seen.flatMap((pair) => {
    const change = changes.get(pair.address)
    const error = change ? describeConflict(change) : null
    return error === null ? [] : [{ ...pair, error }]
  })
  return { seen, failures }
}

/** Reports whether the block at an address names its object. */
export function isNamed(plan: Plan, { address }: Pair): boolean {
  const resource = changesByAddress(plan).get(address)
  return resource !== undefined && identifyingValues(resource.type, resource.change.after).size > 0
}

/** What a plan shows of an object. */
export type SeenObject = Pick<ResourceChange['change'], 'before' | 'before_sensitive'>

/** An imported pair whose object is that of another block. */
export interface Misplaced extends Failure {
  object: SeenObject
}

/** Returns imported pairs whose object has another name than the block, which is that of another object; unmasked. */
export function findMisplaced(plan: Plan, pairs: readonly Pair[]): Misplaced[] {
  const changes = changesByAddress(plan)
  return pairs.flatMap((pair) => {
    const change = changes.get(pair.address)
    const error = change ? describeRenaming(change) : null
    if (!change || error === null) return []
    const { before, before_sensitive } = change.change
    return [{ ...pair, error, object: { before, before_sensitive } }]
  })
}

/**
 * Returns pairs whose object an earlier plan has shown with another name than that of the block; unmasked.
 * @param objects by identifier
 */
export function compareKnown(plan: Plan, pairs: readonly Pair[], objects: ReadonlyMap<string, SeenObject>): Failure[] {
  const changes = changesByAddress(plan)
  return pairs.flatMap((pair) => {
    const [block, object] = [changes.get(pair.address), objects.get(pair.resource_id)]
    const error = block && object ? describeRenaming({ ...block, change: { ...block.change, ...object } }) : null
    return error === null ? [] : [{ ...pair, error }]
  })
}

function describeRenaming(resource: ResourceChange): string | null {
  const { type, change } = resource
  const [before, after] = [identifyingValues(type, change.before), identifyingValues(type, change.after)]
  const renamed = [...after].find(([path, value]) => before.has(path) && before.get(path) !== value)
  return renamed ? describeValues(resource, renamed[0].split('.')) : null
}

function describeConflict(resource: ResourceChange): string | null {
  const { change } = resource
  const renaming = describeRenaming(resource)
  if (renaming !== null) return renaming
  const action = actionOf(change.actions)
  if (action === 'delete') return 'the plan would destroy the object'
  if (action !== 'replace') return null
  const [forced] = itemsOf(change.replace_paths)
  return `the plan would replace the object${forced === undefined ? '' : `: ${describeValues(resource, itemsOf(forced))}`}`
}

function describeValues({ change }: ResourceChange, path: readonly Json[]): string {
  const { before, before_sensitive, after, after_sensitive, after_unknown } = change
  const own = path.reduce(step, { value: before, sensitive: before_sensitive, unknown: null })
  const wanted = path.reduce(step, { value: after, sensitive: after_sensitive, unknown: after_unknown })
  return `the object has ${path.join('.')} ${show(own)}, the block has ${show(wanted)}`
}

/** Steps into a member or an item; for a name, into the first item of a list. */
function step(from: Marked, key: Json): Marked {
  if (!Array.isArray(from.value)) return markedMember(from, String(key))
  const item = markedItems(from)[typeof key === 'number' ? key : 0] ?? { value: null, sensitive: null, unknown: null }
  return typeof key === 'number' ? item : step(item, key)
}

const MAX_VALUE = 120

function show({ value, sensitive, unknown }: Marked): string {
  if (hasMark(unknown)) return 'a value that is known after the apply'
  if (hasMark(sensitive)) return 'a sensitive value'
  return value === null ? 'none' : cutEnd(JSON.stringify(value), MAX_VALUE)
}
