declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text. */
    rawJSON(text: string): unknown
  }
}

/**
 * A number whose digits a double would change, such as 9007199254740993. It is immutable, `JSON.stringify` and
 * `String` write its digits, and `isEqualJson` compares them. It does not survive `structuredClone`: pass texts.
 */
export class ExactNumber {
  /** As in the document. */
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

/** Any value that `parseJson` can return. */
export type Json = null | boolean | number | string | ExactNumber | Json[] | { [key: string]: Json }

export type JsonObject = { [key: string]: Json }

/** True if the value is an object, not null or a list. Its members are not checked: `parseJson` returns only JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
}

/** Returns an object's own member, never one of the prototype: the key may come from outside and be `__proto__`. */
export const ownMember = <Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Returns a member of a value; undefined when the value is no object or lacks the key. */
export const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? ownMember(value, key) : undefined

/** Returns the items of a list; none for any other value. */
export const itemsOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** Compares two JSON values of limited depth, ignoring the order of keys. */
export function isEqualJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (a instanceof ExactNumber || b instanceof ExactNumber) return isSameNumber(a, b)
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqualJson(item, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]))
  )
}

const isNumber = (value: Json | undefined): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber

const isSameNumber = (a: Json | undefined, b: Json | undefined): boolean =>
  isNumber(a) && isNumber(b) && normalise(String(a)) === normalise(String(b))

/** Writes a number without needless zeros, as its digits and an exponent: `1.50` becomes `15e-1`. */
function normalise(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${BigInt(exponent) + BigInt(digits.length - significant.length - fraction.length)}`
}

/** Numbers of sixteen characters, or of three digits in the exponent; a double has shorter ones exactly. */
const LONG_NUMBERS = /(?:^|[[:,])\s*(-?\d(?:[\d.]{15}[\d.eE+-]*|[\d.]*[eE][+-]?\d{3,}))/g

/** Reports whether a number is not what a double writes. */
const isChanged = (source: string, value: number): boolean => {
  if (String(value) === source) return false
  if (value === 0) return /^[^eE]*[1-9]/.test(source)
  return source.length >= 16 || !Number.isFinite(value)
}

const keepExact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && isChanged(context.source, value)
    ? new ExactNumber(context.source)
    : value

/** Reports whether a double may change a number of a text; a text in quotes may look like one. */
const mayChange = (text: string): boolean =>
  text.matchAll(LONG_NUMBERS).some(([, source = '']) => isChanged(source, Number(source)))

/**
 * Parses a JSON text; numbers that a double would change become `ExactNumber`. A text without any takes the time of
 * `JSON.parse`. Throws `SyntaxError` for text that is not JSON.
 */
export const parseExactly = (text: string): Json => (mayChange(text) ? JSON.parse(text, keepExact) : JSON.parse(text))

/** Does the same as `parseExactly`; undefined for a text that is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/** Parses a quoted text as JSON writes it; null for any other text. */
export function parseQuoted(text: string): string | null {
  const value = parseJson(text)
  return typeof value === 'string' ? value : null
}
