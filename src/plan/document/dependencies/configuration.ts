import { isJsonObject, itemsOf, type Json, memberOf } from '../../../base/json.ts'
import type { Plan } from '../../plan.ts'
import { MAX_DEPENDENCIES, MAX_MODULE_DEPTH } from '../limits.ts'

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

export interface Reference {
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

/** Reads the modules of a plan's configuration, which does not contain local values. */
export function readCode({ document }: Plan): CodeModule {
  return readModule(memberOf(document.configuration, 'root_module'), { names: [], call: undefined, parent: null })
}

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
export const findModule = (root: CodeModule, names: readonly string[]): CodeModule | undefined =>
  names.reduce<CodeModule | undefined>((module, name) => module?.children.get(name), root)

/** Returns the references of a block and of the calls of all enclosing modules. */
export function referencesOfBlock(module: CodeModule, block: Json): References {
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

const KEY = String.raw`(?:\[("(?:\\.|[^"\\])*"|\d+)\])?`
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
