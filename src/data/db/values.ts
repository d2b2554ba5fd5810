import { toHex } from '../../base/bytes.ts'

/** Makes a text of a user, model or repository storable: NUL is dropped and lone surrogates become U+FFFD. */
export function storable(text: string): string
export function storable(text: string | null): string | null
export function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '').toWellFormed()
}

/** Writes a value as JSON whose texts are storable. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storable(part) : part))

/** Returns a `LIKE` pattern for texts that contain `text`, with the wildcards `%` and `_` escaped. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

export const TIMESTAMPTZ = 1184

/**
 * Rewrites a timestamp of a UTC session: `2025-01-31 10:20:30.5+00` becomes `2025-01-31T10:20:30.500000Z`. It always
 * has six digits, so that texts compare like times. Throws when the text has another form.
 */
export function toFixedTimestamp(raw: string): string {
  const [, day, time, fraction = ''] = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(raw) ?? []
  if (!day) throw new Error(`not a timestamp of a UTC session: ${raw}`)
  return `${day}T${time}.${fraction.padEnd(6, '0')}Z`
}

type Nested<Element> = (Element | null | Nested<Element>)[]

/** The object identifiers of array types, grouped by the type of their elements. */
const TEXT_LISTS = [1003, 1009, 1015, 2951]
const NUMBER_LISTS = [1005, 1007, 1016, 1021, 1022]

/** The driver's option `types` for reading arrays. */
export const listTypes = Object.fromEntries([
  ...TEXT_LISTS.map((type) => [`list${type}`, typeEntry(type, (text) => parseArray(text, (item) => item))]),
  ...NUMBER_LISTS.map((type) => [`list${type}`, typeEntry(type, (text) => parseArray(text, Number))]),
])

/** Makes the driver's entry for a type of the server. Values are sent unchanged by default. */
export function typeEntry(
  type: number,
  parse: (text: string) => unknown,
  serialize: (value: unknown) => unknown = (value) => value,
) {
  return { to: type, from: [type], serialize, parse }
}

/** Parses an array literal of the server, for example `{a,"b,c",NULL,{d}}`. */
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

type Parameter = string | number | boolean | null | Uint8Array

/** Converts a value to a parameter: a list to an array literal, a date to a text, any other object to JSON. */
export function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return arrayLiteral(value)
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new Error(`a ${typeof value} is not a value of a statement`)
}

function arrayLiteral(list: readonly unknown[]): string {
  const element = (value: unknown): string => {
    if (Array.isArray(value)) return arrayLiteral(value)
    const parameter = toParameter(value)
    if (parameter === null) return 'NULL'
    const text = parameter instanceof Uint8Array ? `\\x${toHex(parameter)}` : String(parameter)
    return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  }
  return `{${list.map(element).join(',')}}`
}
