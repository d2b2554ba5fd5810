import type { Json } from '../base/json.ts'

/** Reports whether prose or JSON contains exactly this address: `aws_vpc.main` is not in `module.net.aws_vpc.main`. */
export const namesAddress = (text: string, address: string): boolean =>
  [address, JSON.stringify(address).slice(1, -1)].some((form) => containsWhole(text, form, /[\w.\-\]]/, /[\w\-[]/))

/** Does the same as `namesAddress` for a text that may leave out the modules and indexes of the address. */
export const namesResource = (text: string, address: string): boolean =>
  containsWhole(text, localName(address), /[\w-]/, /[\w-]/)

/** Returns `type.name` of a resource address; any other address without its modules and indexes. */
export const localName = (address: string) => withoutIndexes(address).replace(/^(module\.[^.]+\.)+(?=.)/, '')

/** Removes the indexes of modules and instances: `module.a[0].x.y["k"]` becomes `module.a.x.y`. */
export const withoutIndexes = (address: string) => address.replace(/\[("(\\.|[^"\\])*"|\d+)\]/g, '')

/** Reports whether a target is the address, its block, or a module around it. */
export function covers(target: string, address: string): boolean {
  if (!address.startsWith(target)) return false
  const next = address[target.length]
  return next === undefined || next === '[' || (next === '.' && isModule(target))
}

/** True for module addresses, with or without an index. */
const isModule = (target: string) => /(^|\.)module\.[^.[\]]+(\[("(\\.|[^"\\])*"|\d+)\])?$/.test(target)

/** Removes the backticks that a model often writes around a name. */
export const stripBackticks = (name: string) => name.trim().replace(/^`(.*)`$/, '$1')

/** Reports whether a text contains `form` without the given characters directly before and after it. */
function containsWhole(text: string, form: string, before: RegExp, after: RegExp): boolean {
  for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + 1))
    if (!before.test(text[start - 1] ?? ' ') && !after.test(text[start + form.length] ?? ' ')) return true
  return false
}

/** A part of an address: a name with its instance key or number as written, if any. */
export interface AddressPart {
  name: string
  key: string | null
}

/** Pattern of the index of an address, if any; the group is the key or number as written. */
export const KEY = String.raw`(?:\[("(?:\\.|[^"\\])*"|\d+)\])?`
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

/** Appends a key or an index to a path as the engine's language writes it, for example `tags["a b"].list[0]`. */
export function appendStep(path: string, step: Json): string {
  if (typeof step !== 'string' || !/^[A-Za-z_][\w-]*$/.test(step)) return `${path}[${JSON.stringify(step)}]`
  return path === '' ? step : `${path}.${step}`
}
