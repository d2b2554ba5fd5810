import { itemsOf, type Json, memberOf } from '../../../base/json.ts'
import { readAddress, withoutIndexes } from '../../addresses.ts'
import type { Plan, ResourceChange } from '../../plan.ts'
import { MAX_DEPENDENCIES, MAX_MODULE_DEPTH } from '../limits.ts'
import { findModule, type Reference, readCode, referencesOfBlock } from './configuration.ts'

/** Positions of the resources that one depends on, in the plan's order, and the number of further ones. */
export interface Dependencies {
  indexes: number[]
  left_out: number
}

const NONE: Dependencies = { indexes: [], left_out: 0 }

/**
 * Finds the dependencies between resources of a plan: the references of their blocks through variables, outputs and
 * module calls. For a removed block, or one with local values, the state names them, indirect ones included.
 */
export function findDependencies(plan: Plan): (index: number) => Dependencies {
  const instances = plan.resource_changes.map(instanceOf)
  const targets = indexInstances(
    instances.map((instance, index) => (plan.resource_changes[index]?.deposed === undefined ? instance : null)),
  )
  const code = readCode(plan)
  const inState = readState(plan)
  const fromState = (source: Instance, resource: ResourceChange) =>
    (inState.get(resource.previous_address ?? resource.address) ?? []).map((address) =>
      listedAt(address, source, targets),
    )
  return (index) => {
    const source = instances[index]
    const resource = plan.resource_changes[index]
    if (!source || !resource) return NONE
    const module = findModule(code, source.names)
    const block = module?.blocks.get(source.block)
    if (!module || block === undefined) return collect(source, fromState(source, resource))
    const { found, is_complete } = referencesOfBlock(module, block)
    const lists = [...found.values()].map((reference) => instancesOf(reference, source, targets))
    return collect(source, is_complete ? lists : [...lists, ...fromState(source, resource)])
  }
}

function collect(source: Instance, lists: readonly (readonly Instance[])[]): Dependencies {
  const found = new Set<number>()
  let leftOut = 0
  for (const list of lists) {
    const room = MAX_DEPENDENCIES + 1 - found.size
    for (const { index } of list.slice(0, room)) found.add(index)
    leftOut += Math.max(0, list.length - room)
  }
  found.delete(source.index)
  const indexes = [...found].toSorted((a, b) => a - b)
  const kept = indexes.slice(0, MAX_DEPENDENCIES)
  return { indexes: kept, left_out: leftOut + indexes.length - kept.length }
}

/** Returns the instances that a reference means: those of the same module instance and, by own key, of the same key. */
function instancesOf(reference: Reference, source: Instance, targets: InstanceIndex): readonly Instance[] {
  const { module, block, key, module_keys, by_own_key } = reference
  const keys = source.keys.slice(0, sharedDepth(source.names, module.names))
  for (let pin = module_keys.get(keys.length); pin !== undefined; pin = module_keys.get(keys.length)) keys.push(pin)
  const wanted = { names: module.names, block, keys }
  if (key !== null) return targets.find({ ...wanted, key })
  const sameKey = by_own_key && source.key !== null ? targets.find({ ...wanted, key: source.key }) : []
  return sameKey.length > 0 ? sameKey : targets.find(wanted)
}

/** Returns the listed instances of a block that the state names without indexes. */
function listedAt(address: string, source: Instance, targets: InstanceIndex): readonly Instance[] {
  const bare = withoutIndexes(address)
  const names = readAddress(bare).calls.map(({ name }) => name)
  const block = bare.slice(names.map((name) => `module.${name}.`).join('').length)
  return targets.find({ names, block, keys: source.keys.slice(0, sharedDepth(source.names, names)) })
}

function sharedDepth(a: readonly string[], b: readonly string[]): number {
  let depth = 0
  while (depth < a.length && depth < b.length && a[depth] === b[depth]) depth++
  return depth
}

/** Reads dependencies from the state, by address. */
function readState({ document }: Plan): Map<string, string[]> {
  const byAddress = new Map<string, string[]>()
  const visit = (module: Json | undefined, depth: number) => {
    if (depth > MAX_MODULE_DEPTH) return
    for (const resource of itemsOf(memberOf(module, 'resources'))) {
      const address = memberOf(resource, 'address')
      const names = itemsOf(memberOf(resource, 'depends_on')).filter((name) => typeof name === 'string')
      if (typeof address === 'string' && names.length > 0) byAddress.set(address, names)
    }
    for (const child of itemsOf(memberOf(module, 'child_modules'))) visit(child, depth + 1)
  }
  visit(memberOf(memberOf(document.prior_state, 'values'), 'root_module'), 0)
  return byAddress
}

/** A listed resource, as dependencies refer to it. */
export interface Instance {
  index: number
  /** Names of the calls that lead to its module, with the instance key of each. */
  names: readonly string[]
  keys: readonly (string | null)[]
  /** Block as `<type>.<name>`, or `data.<type>.<name>` for a data source. */
  block: string
  /** Instance key as an address writes it. */
  key: string | null
}

/** Reads the position of a resource; null when its module is nested too deep. */
function instanceOf({ address, mode, type, name }: ResourceChange, index: number): Instance | null {
  const { calls, resource } = readAddress(address)
  if (calls.length > MAX_MODULE_DEPTH) return null
  return {
    index,
    names: calls.map((call) => call.name),
    keys: calls.map((call) => call.key),
    block: `${mode === 'data' ? 'data.' : ''}${type}.${name}`,
    key: resource.key,
  }
}

/** A search for instances of a block. */
interface Wanted {
  names: readonly string[]
  block: string
  /** Keys of the outermost calls; later calls may have any key. */
  keys: readonly (string | null)[]
  /** Any instance when absent. */
  key?: string | null
}

/** A lookup of listed resources. */
interface InstanceIndex {
  find(wanted: Wanted): readonly Instance[]
}

/** Indexes each instance under every call that leads to it, so that a lookup is one step. */
function indexInstances(instances: readonly (Instance | null)[]): InstanceIndex {
  const entries = new Map<string, Instance[]>()
  const enter = (wanted: Wanted, instance: Instance) => {
    const name = nameOf(wanted)
    const list = entries.get(name)
    if (list) list.push(instance)
    else entries.set(name, [instance])
  }
  for (const instance of instances) {
    if (instance === null) continue
    const { names, block, keys, key } = instance
    for (let depth = 0; depth <= names.length; depth++) {
      const wanted: Wanted = { names, block, keys: keys.slice(0, depth) }
      enter(wanted, instance)
      if (key !== null) enter({ ...wanted, key }, instance)
    }
  }
  return { find: (wanted) => entries.get(nameOf(wanted)) ?? [] }
}

const nameOf = ({ names, block, keys, key }: Wanted): string => JSON.stringify([names, block, keys, key ?? null])
