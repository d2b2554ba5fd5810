/** Reports whether prose or JSON contains exactly this address: `aws_vpc.main` is not in `module.net.aws_vpc.main`. */
export const namesAddress = (text: string, address: string): boolean =>
  [address, JSON.stringify(address).slice(1, -1)].some((form) => containsWhole(text, form, /[\w.\-\]]/, /[\w\-[]/))

/** Does the same as `namesAddress` for a text that may leave out the modules and indexes of the address. */
export const namesResource = (text: string, address: string): boolean =>
  containsWhole(text, localName(address), /[\w-]/, /[\w-]/)

/** Returns `type.name` of a resource address; any other address without its modules and indexes. */
const localName = (address: string) => withoutIndexes(address).replace(/^(module\.[^.]+\.)+(?=.)/, '')

/** Removes the indexes of modules and instances: `module.a[0].x.y["k"]` becomes `module.a.x.y`. */
export const withoutIndexes = (address: string) => address.replace(/\[("(\\.|[^"\\])*"|\d+)\]/g, '')

/** Removes the backticks that a model often writes around a name. */
export const stripBackticks = (name: string) => name.trim().replace(/^`(.*)`$/, '$1')

/** Reports whether a text contains `form` without the given characters directly before and after it. */
function containsWhole(text: string, form: string, before: RegExp, after: RegExp): boolean {
  for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + 1))
    if (!before.test(text[start - 1] ?? ' ') && !after.test(text[start + form.length] ?? ' ')) return true
  return false
}
