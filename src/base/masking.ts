import { isJsonObject, type Json, ownMember } from './json.ts'

/** Replacement of a sensitive value, the same as the engine's. */
export const MASK = '(sensitive value)'

/** Masks the sensitive values that it was made for. */
export interface Masker {
  /** Masks them in a text, also where they are JSON-escaped. */
  text(text: string): string
  /** Masks them in every string of a JSON value except its keys. */
  json(value: Json): Json
}

/** Shorter values are not searched for in texts; `maskFlagged` masks those that the plan marks as sensitive. */
const MIN_LITERAL = 4
/** Values of at least this length are also replaced inside longer words. */
const MIN_UNBOUNDED = 8
/** Values that reveal nothing and occur in every plan: booleans, null and short numbers. */
const HARMLESS = /^(true|false|null|\d{1,5})$/
/** A value that could be an ordinary word, for example `password` or `Postgres`. */
const WORD = /^\p{Lu}?[\p{Ll}_-]{1,15}$/u

/**
 * Makes a masker for sensitive values.
 * @param literals the values as text, in any order; repeats are allowed
 */
export function createMasker(literals: Iterable<string>): Masker {
  const forms = [...new Set([...literals].flatMap(literalForms))].filter(
    (form) => form.length >= MIN_LITERAL && !HARMLESS.test(form),
  )
  forms.sort((a, b) => b.length - a.length)
  if (forms.length === 0) return { text: (text) => text, json: (value) => value }
  const pattern = new RegExp(forms.map(toPattern).join('|'), 'gu')
  const text = (value: string) => hideMatches(value, pattern)
  return { text, json: (value) => mapStrings(value, text) }
}

/** Replaces each match with the mask. Overlapping matches get one mask together, so that no part of one remains. */
function hideMatches(text: string, pattern: RegExp): string {
  const pieces: string[] = []
  let end = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match.index >= end) pieces.push(text.slice(end, match.index), MASK)
    end = Math.max(end, match.index + match[0].length)
    pattern.lastIndex = match.index + ((text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1)
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(end)].join('')
}

/**
 * Returns the forms of a value in a text: as is and as a JSON string. Of a multi-line value such as a private key, each
 * line of at least eight characters counts too, because a log may show a single line.
 */
function literalForms(literal: string): string[] {
  const lines = literal.includes('\n')
    ? literal
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.length >= MIN_UNBOUNDED)
    : []
  return [literal, ...lines].flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])
}

/**
 * Returns the pattern for one form. A form that could be an ordinary word matches only as the whole text or alone in
 * quotes, and any other short one only as a whole word: with the password `postgres`, the name `postgres_version` and
 * the sentence `a postgres server` stay readable.
 */
function toPattern(form: string): string {
  const literal = form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  if (WORD.test(form)) return `(?<=["'\`]|^)${literal}(?=\\\\?["'\`]|$)`
  if (form.length >= MIN_UNBOUNDED) return literal
  return `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`
}

function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]))
}

/**
 * Masks the parts of a value that the plan marks as sensitive. `flags` mirrors the value, with `true` for each
 * sensitive part. Null stays visible, because the absence of a value is no secret.
 */
export function maskFlagged(value: Json, flags: Json | undefined): Json {
  if (flags === true) return value === null ? null : MASK
  if (Array.isArray(value) && Array.isArray(flags)) return value.map((item, index) => maskFlagged(item, flags[index]))
  if (isJsonObject(value) && isJsonObject(flags))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, maskFlagged(item, ownMember(flags, key))]),
    )
  return value
}
