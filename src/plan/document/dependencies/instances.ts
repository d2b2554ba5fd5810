import { readAddress } from '../../own-changes/code-places.ts'
import type { ResourceChange } from '../../plan.ts'
import { MAX_MODULE_DEPTH } from '../limits.ts'

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
export function instanceOf({ address, mode, type, name }: ResourceChange, index: number): Instance | null {
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
export interface Wanted {
  names: readonly string[]
  block: string
  /** Keys of the outermost calls; later calls may have any key. */
  keys: readonly (string | null)[]
  /** Any instance when absent. */
  key?: string | null
}

/** A lookup of listed resources. */
export interface InstanceIndex {
  find(wanted: Wanted): readonly Instance[]
}

/** Indexes each instance under every call that leads to it, so that a lookup is one step. */
export function indexInstances(instances: readonly (Instance | null)[]): InstanceIndex {
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
