import type { Json } from '../../base/json.ts'

/** A value in a line of code after a name. */
interface CodeValue {
  text: string
  /** The plain text, number or boolean; null for any other expression. */
  literal: string | null
}

/** Removed and added lines of a change. */
export interface ChangedLines {
  removed: readonly string[]
  added: readonly string[]
}

/** A value on both sides of a difference; null where a side has none. */
export interface Sides {
  code: Json
  infrastructure: Json
}

const LITERAL = /^("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)\s*(?=$|[,}\])#]|\/\/)/
const isComment = (line: string) => /^(#|\/\/)/.test(line)
const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * Reports whether the lines change the value of a name in a way that explains the difference: literals must match the
 * code on the added side and the infrastructure on the removed side.
 * @param strict whether both sides must be literals
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

/** Reports whether the lines replace a list item of the infrastructure by one of the code. */
export function changesItem({ removed, added }: ChangedLines, { code, infrastructure }: Sides): boolean {
  const moves = (value: Json, from: readonly string[], to: readonly string[]) =>
    value === null || (mentions(from, value) && !mentions(to, value))
  return moves(code, added, removed) && moves(infrastructure, removed, added)
}

/** Reports whether the lines remove a key or item. */
export const removesKey = ({ removed, added }: ChangedLines, key: string): boolean =>
  (mentions(removed, key) && !mentions(added, key)) ||
  (valuesOf(removed, key).length > 0 && valuesOf(added, key).length === 0)

/** Reports whether a line contains a quoted text or a number; other values are too common to be significant. */
function mentions(lines: readonly string[], value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const form = new RegExp(`(?<![\\w."])${escapePattern(JSON.stringify(value))}(?![\\w."])`)
  return lines.some((line) => !isComment(line) && form.test(line))
}

/** Returns the values that lines assign to a name, be it a block argument or a map key. */
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
        // The end of an expression within a line is unknown, so only literals count there.
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

/** Parses a quoted text; null when it is not written as in JSON. */
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

/** Returns the values that a list contains more often than the other. */
function withoutCommon(values: readonly CodeValue[], others: readonly CodeValue[]): CodeValue[] {
  const left = others.map(({ text }) => text)
  return values.filter(({ text }) => {
    const at = left.indexOf(text)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
