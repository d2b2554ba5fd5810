import { isJsonObject, itemsOf, type Json, memberOf } from '../../base/json.ts'
import { KEY, readAddress, withoutIndexes } from '../addresses.ts'
import { type Plan, type ResourceChange, stateResources } from '../plan.ts'

/** Most dependencies of a resource that are listed. */
const MAX_DEPENDENCIES = 100
/** Deepest nesting of module calls in which dependencies are traced. */
const MAX_MODULE_DEPTH = 20

/** Positions of the resources that one depends on, in the plan's order, and the number of further ones. */
interface Dependencies {
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
  const root = memberOf(plan.document.configuration, 'root_module')
  const code = readModule(root, { names: [], call: undefined, parent: null })
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
function readState(plan: Plan): Map<string, string[]> {
  const byAddress = new Map<string, string[]>()
  for (const { address, depends_on } of stateResources(plan)) {
    const names = namesIn(depends_on)
    if (typeof address === 'string' && names.length > 0) byAddress.set(address, names)
  }
  return byAddress
}

/** A listed resource, as dependencies refer to it. */
interface Instance {
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

type InstanceIndex = ReturnType<typeof indexInstances>

/** Indexes each instance under every call that leads to it, so that a lookup is one step. */
function indexInstances(instances: readonly (Instance | null)[]) {
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
  return { find: (wanted: Wanted): readonly Instance[] => entries.get(nameOf(wanted)) ?? [] }
}

const nameOf = ({ names, block, keys, key }: Wanted): string => JSON.stringify([names, block, keys, key ?? null])

/** A module in the plan's `configuration`, once for all of its instances. */
interface CodeModule {
  /** Names of the calls that lead to it; empty for the root. */
  names: readonly string[]
  module: Json | undefined
  /** Its call; undefined for the root. */
  call: Json | undefined
  parent: CodeModule | null
  children: Map<string, CodeModule>
  /** Blocks by `<type>.<name>`, data sources by `data.<type>.<name>`. */
  blocks: Map<string, Json>
  /** Resolved references by the name of a variable or output. */
  resolved: Map<string, References>
}

interface Reference {
  module: CodeModule
  block: string
  /** Instance key as an address writes it; null for any. */
  key: string | null
  /** Keys of module instances that the reference names, by the number of calls above them. */
  module_keys: ReadonlyMap<number, string>
  /** True if the expression also uses its own instance key, so that equal keys belong together. */
  by_own_key: boolean
}

/** All references of an expression, and whether the plan leaves some of them open. */
interface References {
  found: Map<string, Reference>
  is_complete: boolean
}

/** Reads a module of a plan's configuration, which does not contain local values, with those that it calls. */
function readModule(module: Json | undefined, place: Pick<CodeModule, 'names' | 'call' | 'parent'>): CodeModule {
  const code: CodeModule = { ...place, module, children: new Map(), blocks: new Map(), resolved: new Map() }
  for (const block of itemsOf(memberOf(module, 'resources'))) {
    const [mode, type, name] = ['mode', 'type', 'name'].map((key) => memberOf(block, key))
    if (typeof type === 'string' && typeof name === 'string')
      code.blocks.set(`${mode === 'data' ? 'data.' : ''}${type}.${name}`, block)
  }
  const calls = memberOf(module, 'module_calls')
  if (isJsonObject(calls) && place.names.length < MAX_MODULE_DEPTH)
    for (const [name, call] of Object.entries(calls))
      code.children.set(
        name,
        readModule(memberOf(call, 'module'), { names: [...place.names, name], call, parent: code }),
      )
  return code
}

/** Returns the module that calls lead to; undefined when the code has none. */
const findModule = (root: CodeModule, names: readonly string[]): CodeModule | undefined =>
  names.reduce<CodeModule | undefined>((module, name) => module?.children.get(name), root)

/** Returns the references of a block and of the calls of all enclosing modules. */
function referencesOfBlock(module: CodeModule, block: Json): References {
  const references: References = { found: new Map(), is_complete: true }
  addExpressions(references, module, block, ['expressions', 'count_expression', 'for_each_expression', 'provisioners'])
  addNames(references, module, namesIn(memberOf(block, 'depends_on')))
  merge(references, referencesOfCalls(module))
  return references
}

function referencesOfCalls(module: CodeModule): References {
  return remember(module, 'calls', (references) => {
    if (module.parent === null) return
    addExpressions(references, module.parent, module.call, ['count_expression', 'for_each_expression'])
    addNames(references, module.parent, namesIn(memberOf(module.call, 'depends_on')))
    merge(references, referencesOfCalls(module.parent))
  })
}

/** Resolves once; a circular reference ends where it leads back. */
function remember(module: CodeModule, name: string, resolve: (references: References) => void): References {
  const known = module.resolved.get(name)
  if (known) return known
  const references: References = { found: new Map(), is_complete: true }
  module.resolved.set(name, references)
  resolve(references)
  return references
}

function addExpressions(into: References, module: CodeModule, holder: Json | undefined, members: readonly string[]) {
  for (const member of members)
    for (const names of referenceLists(memberOf(holder, member), 0)) addNames(into, module, names)
}

/** Yields the reference lists in an expression and its nested blocks. */
function* referenceLists(expression: Json | undefined, depth: number): Generator<string[]> {
  if (depth > MAX_MODULE_DEPTH || typeof expression !== 'object' || expression === null) return
  const own = memberOf(expression, 'references')
  if (Array.isArray(own)) yield namesIn(own)
  const parts = Array.isArray(expression) ? expression : Object.values(expression)
  for (const part of parts) yield* referenceLists(part, depth + 1)
}

const namesIn = (list: Json | undefined): string[] => itemsOf(list).filter((name) => typeof name === 'string')

const MODULE = new RegExp(String.raw`^module\.([^.[]+)${KEY}(?:\.([^.[]+))?`)
const BLOCK = new RegExp(String.raw`^(?:resource\.)?((?:data\.)?[^.[]+\.[^.[]+)${KEY}`)
const OWN_KEY = /^(?:each\.(?:key|value)|count\.index)\b/

/** Resolves the references of one expression, which the engine lists as `a.b[0].id`, `a.b[0]`, `a.b`. */
function addNames(into: References, module: CodeModule, names: readonly string[]): void {
  const byOwnKey = names.some((name) => OWN_KEY.test(name))
  const parts = names.map((name) => ({ name, call: MODULE.exec(name), block: BLOCK.exec(name) }))
  const withOutput = new Set(parts.flatMap(({ call }) => (call?.[3] ? [call[1]] : [])))
  const withKey = new Set(parts.flatMap(({ block }) => (block?.[2] ? [block[1]] : [])))
  for (const { name, call, block } of parts) {
    if (into.found.size >= MAX_DEPENDENCIES) return
    if (call) {
      const [, child = '', childKey, output] = call
      const called = module.children.get(child)
      if (called && (output !== undefined || !withOutput.has(child)))
        merge(into, pinned(referencesOfModule(called, output), module.names.length, childKey))
    } else if (name.startsWith('var.')) merge(into, referencesOfVariable(module, name.split(/[.[]/)[1] ?? ''))
    else if (name.startsWith('local.')) into.is_complete = false
    else if (block && (block[2] !== undefined || !withKey.has(block[1])))
      addBlock(into, {
        module,
        block: block[1] ?? '',
        key: block[2] ?? null,
        module_keys: new Map(),
        by_own_key: byOwnKey,
      })
  }
}

function addBlock(into: References, reference: Reference): void {
  if (reference.module.blocks.has(reference.block)) into.found.set(idOf(reference), reference)
}

const referencesOfVariable = (module: CodeModule, name: string): References =>
  remember(module, `var ${name}`, (references) => {
    if (module.parent === null) return
    const given = memberOf(memberOf(module.call, 'expressions'), name)
    for (const names of referenceLists(given, 0)) addNames(references, module.parent, names)
  })

/** Returns the references of a module's output; without an output, of every block in the module and below it. */
const referencesOfModule = (module: CodeModule, output: string | undefined): References =>
  remember(module, output === undefined ? 'all' : `output ${output}`, (references) => {
    if (output !== undefined) {
      const declared = memberOf(memberOf(module.module, 'outputs'), output)
      addExpressions(references, module, declared, ['expression'])
      addNames(references, module, namesIn(memberOf(declared, 'depends_on')))
      return
    }
    for (const block of module.blocks.keys())
      addBlock(references, { module, block, key: null, module_keys: new Map(), by_own_key: false })
    for (const child of module.children.values()) merge(references, referencesOfModule(child, undefined))
  })

/** Returns the references limited to one instance of the call at this depth. */
function pinned(references: References, depth: number, key: string | undefined): References {
  if (key === undefined) return references
  const found = [...references.found.values()].map((one): [string, Reference] => {
    const reference = { ...one, module_keys: new Map([...one.module_keys, [depth, key]]) }
    return [idOf(reference), reference]
  })
  return { found: new Map(found), is_complete: references.is_complete }
}

function merge(into: References, more: References): void {
  into.is_complete &&= more.is_complete
  for (const [id, reference] of more.found) {
    if (into.found.size >= MAX_DEPENDENCIES) return
    into.found.set(id, reference)
  }
}

const idOf = ({ module, block, key, module_keys }: Reference): string =>
  JSON.stringify([module.names, block, [...module_keys], key])
