import type { Json } from '../../base/json.ts'

/** A value that stands in a line of code behind a name. */
interface CodeValue {
  text: string
  /** The meaning of the text when it is a plain text, number or boolean; null for any other expression. */
  literal: string | null
}

/** Lines that a change took away, and those that it added. */
export interface ChangedLines {
  removed: readonly string[]
  added: readonly string[]
}

/** A value on the two sides of a difference; null where a side has none. */
export interface Sides {
  code: Json
  infrastructure: Json
}

const LITERAL = /^("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)\s*(?=$|[,}\])#]|\/\/)/
const isComment = (line: string) => /^(#|\/\/)/.test(line)
const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * True if the lines give a name another value, and one that explains the difference: where a value is written out, it
 * is that of the code on the added side and that of the infrastructure on the removed side.
 * @param strict whether both sides have to be written out
 */
export function changesValue(lines: ChangedLines, name: string, sides: Sides, strict = false): boolean {
  const before = valuesOf(lines.removed, name)
  const after = valuesOf(lines.added, name)
  const removed = withoutCommon(before, after)
  const added = withoutCommon(after, before)
  if (removed.length + added.length === 0) return false
  return fits(added, sides.code, strict) && fits(removed, sides.infrastructure, strict)
}

function fits(values: readonly CodeValue[], expected: Json, strict: boolean): boolean {
  if (values.length === 0) return !strict
  if (values.some(({ literal }) => literal !== null && isSame(literal, expected))) return true
  return !strict && values.some(({ literal }) => literal === null)
}

/** True if the lines replace an item of a list: the value of the infrastructure goes, that of the code comes. */
export function changesItem({ removed, added }: ChangedLines, { code, infrastructure }: Sides): boolean {
  const moves = (value: Json, from: readonly string[], to: readonly string[]) =>
    value === null || (mentions(from, value) && !mentions(to, value))
  return moves(code, added, removed) && moves(infrastructure, removed, added)
}

/** True if the lines take a key or an item away. */
export const removesKey = ({ removed, added }: ChangedLines, key: string): boolean =>
  (mentions(removed, key) && !mentions(added, key)) ||
  (valuesOf(removed, key).length > 0 && valuesOf(added, key).length === 0)

/** True if a line holds a text in quotes, or a number. Anything else is too common to mean something. */
function mentions(lines: readonly string[], value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const form = new RegExp(`(?<![\\w."])${escapePattern(JSON.stringify(value))}(?![\\w."])`)
  return lines.some((line) => !isComment(line) && form.test(line))
}

/** The values that lines give to a name, be it an argument of a block or a key of a map. */
function valuesOf(lines: readonly string[], name: string): CodeValue[] {
  const form = `(?:${escapePattern(JSON.stringify(name))}|${escapePattern(name)})\\s*[=:](?!=)\\s*`
  const first = new RegExp(`^${form}(.+)$`)
  const inside = new RegExp(`(?<=[{,(]\\s*)${form}(?=(.+)$)`, 'g')
  return lines
    .filter((line) => !isComment(line))
    .flatMap((line) => {
      const whole = first.exec(line)?.[1]
      const inner = [...line.matchAll(inside)].map(([, rest = '']) => rest)
      return [
        ...(whole === undefined ? [] : [toValue(whole)]),
        // The end of an expression inside of a line is not known, so that only plain values count there.
        ...inner.map(toValue).filter(({ literal }) => literal !== null),
      ]
    })
}

function toValue(text: string): CodeValue {
  const literal = LITERAL.exec(text)?.[1]
  if (literal === undefined) return { text: text.trim(), literal: null }
  if (!literal.startsWith('"')) return { text: literal, literal }
  return { text: literal, literal: /[$%]\{/.test(literal) ? null : readText(literal) }
}

/** The text in quotes; null when it is written in another way than JSON would. */
export function readText(quoted: string): string | null {
  try {
    const value: unknown = JSON.parse(quoted)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}

const isSame = (literal: string, value: Json): boolean =>
  value !== null && typeof value !== 'object' && String(value) === literal

/** The values of a list that the other has not, each as often as it stands there more often. */
function withoutCommon(values: readonly CodeValue[], others: readonly CodeValue[]): CodeValue[] {
  const left = others.map(({ text }) => text)
  return values.filter(({ text }) => {
    const at = left.indexOf(text)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
