type Nested<Element> = (Element | null | Nested<Element>)[]

/** Types of the server whose values are lists, by the reading of their elements. */
const TEXT_LISTS = [1003, 1009, 1015, 2951]
const NUMBER_LISTS = [1005, 1007, 1016, 1021, 1022]

/** For the driver's `types`: reading lists. */
export const listTypes = Object.fromEntries([
  ...TEXT_LISTS.map((type) => [`list${type}`, listType(type, (text) => text)]),
  ...NUMBER_LISTS.map((type) => [`list${type}`, listType(type, Number)]),
])

function listType<Element>(type: number, element: (text: string) => Element) {
  return {
    to: type,
    from: [type],
    serialize: (value: unknown) => value,
    parse: (text: string) => parseArray(text, element),
  }
}

/** Reads `{a,"b,c",NULL,{d}}` of the server. */
function parseArray<Element>(text: string, element: (text: string) => Element): Nested<Element> {
  const stack: Nested<Element>[] = [[]]
  const add = (value: Element | null) => stack.at(-1)?.push(value)
  const tokens = /"((?:[^"\\]|\\.)*)"|([{}])|([^{},"]+)/gs
  for (const [, quoted, brace, bare] of text.matchAll(tokens)) {
    if (brace === '{') stack.push([])
    else if (brace === '}') {
      const list = stack.pop()
      if (list) stack.at(-1)?.push(list)
    } else if (quoted !== undefined) add(element(quoted.replaceAll(/\\(.)/gs, '$1')))
    else if (bare !== undefined) add(bare === 'NULL' ? null : element(bare))
  }
  const [list] = stack[0] ?? []
  return Array.isArray(list) ? list : []
}
