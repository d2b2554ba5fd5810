/** Whether a text, prose or JSON, holds the address itself, not one that it is a part of. */
export const namesAddress = (text: string, address: string): boolean =>
  [address, JSON.stringify(address).slice(1, -1)].some((form) => holds(text, form, /[\w.\-\]]/, /[\w\-[]/))

/** The same for a text that may leave out modules and indexes. */
export const namesResource = (text: string, address: string): boolean =>
  holds(text, localName(address), /[\w-]/, /[\w-]/)

/** `type.name` of a resource; of anything else what is left of it. */
const localName = (address: string) => withoutIndexes(address).replace(/^(module\.[^.]+\.)+(?=.)/, '')

/** An address without the indexes of modules and instances. */
export const withoutIndexes = (address: string) => address.replace(/\[("(\\.|[^"\\])*"|\d+)\]/g, '')

/** A name as a model writes it, without the backticks around it. */
export const bareName = (name: string) => name.trim().replace(/^`(.*)`$/, '$1')

/** @param before, after characters that must not stand next to the form */
function holds(text: string, form: string, before: RegExp, after: RegExp): boolean {
  for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + 1))
    if (!before.test(text[start - 1] ?? ' ') && !after.test(text[start + form.length] ?? ' ')) return true
  return false
}
