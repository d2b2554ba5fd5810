import { isJsonObject, itemsOf, type Json, memberOf } from '../../base/json.ts'
import type { Plan, ResourceChange } from '../plan.ts'

/** The location of a module's code and its description in the plan. */
export interface CodePlace {
  /** Folder relative to the engine root; empty for the root. */
  directory: string
  /** The module in the plan's `configuration`; undefined when the plan lacks it. */
  module: Json | undefined
  /** The calling module and the name of the call; null for the root. */
  caller: { place: CodePlace; name: string } | null
}

export const rootPlace = ({ document }: Plan): CodePlace => ({
  directory: '',
  module: memberOf(document.configuration, 'root_module'),
  caller: null,
})

/** A part of an address: a name with its instance key or number as written, if any. */
export interface AddressPart {
  name: string
  key: string | null
}

const KEY = String.raw`(?:\[("(?:\\.|[^"\\])*"|\d+)\])?`
const CALL = new RegExp(String.raw`module\.([^.[]+)${KEY}\.`, 'y')
const LAST = new RegExp(String.raw`[^.[]+\.([^.[]+)${KEY}$`)

/** Splits an address into its module calls, outermost first, and the resource itself. */
export function readAddress(address: string): { calls: AddressPart[]; resource: AddressPart } {
  const calls: AddressPart[] = []
  let end = 0
  for (;;) {
    CALL.lastIndex = end
    const call = CALL.exec(address)
    if (call === null) break
    calls.push({ name: call[1] ?? '', key: call[2] ?? null })
    end += call[0].length
  }
  const [, name = '', key = null] = LAST.exec(address.slice(end)) ?? []
  return { calls, resource: { name, key } }
}

/** Returns a module call in the plan's `configuration`; undefined when the code has none. */
export const callInCode = (place: CodePlace, name: string): Json | undefined =>
  memberOf(memberOf(place.module, 'module_calls'), name)

/** Returns the place of a called module; null when it is outside the engine root or not described. */
export function enterModule(place: CodePlace, name: string): CodePlace | null {
  const call = callInCode(place, name)
  const source = memberOf(call, 'source')
  if (typeof source !== 'string' || !/^\.\.?\//.test(source)) return null
  const directory = joinPath(place.directory, source)
  return directory === null ? null : { directory, module: memberOf(call, 'module'), caller: { place, name } }
}

/** Joins paths; null when the result is outside the engine root. */
function joinPath(directory: string, relative: string): string | null {
  const segments = directory === '' ? [] : directory.split('/')
  for (const segment of relative.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return null
    if (segment !== '' && segment !== '.' && segment !== '..') segments.push(segment)
  }
  return segments.join('/')
}

/** Returns the block of a resource in the plan's `configuration`; undefined when the code has none. */
export const resourceInCode = (place: CodePlace, { type, name }: Pick<ResourceChange, 'type' | 'name'>) =>
  itemsOf(memberOf(place.module, 'resources')).find(
    (entry) =>
      memberOf(entry, 'mode') === 'managed' && memberOf(entry, 'type') === type && memberOf(entry, 'name') === name,
  )

/** Returns the distinct references of an expression, such as `var.size`; deeper parts are left out. */
export function referencesIn(expression: Json | undefined): string[] {
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
