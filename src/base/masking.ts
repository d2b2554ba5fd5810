import { isJsonObject, type Json } from './json.ts'

/** What stands in the place of a value that must not be seen; the engine's own words. */
export const MASK = '(sensitive value)'

/** Replaces known sensitive values. Both functions leave everything else untouched. */
export interface Masker {
  /** In any text: literal occurrences, also in their JSON-escaped form. */
  text(text: string): string
  /** In every string of a JSON value; keys stay. */
  json(value: Json): Json
}

/** Values shorter than this are masked at the positions of their attributes only. */
const MIN_LITERAL = 4
/** From this length on a value is replaced inside of longer words too. */
const MIN_UNBOUNDED = 8
/** Text forms of values that are no secret by themselves. */
const HARMLESS = /^(true|false|null|\d{1,5})$/
/** Could be a word of any text. */
const WORD = /^\p{Lu}?[\p{Ll}_-]{1,15}$/u

/** @param literals text forms of sensitive values, in any order, repeats allowed */
export function createMasker(literals: Iterable<string>): Masker {
  const forms = [...new Set([...literals].flatMap(literalForms))].filter(
    (form) => form.length >= MIN_LITERAL && !HARMLESS.test(form),
  )
  forms.sort((a, b) => b.length - a.length)
  if (forms.length === 0) return { text: (text) => text, json: (value) => value }
  const pattern = new RegExp(forms.map(toPattern).join('|'), 'gu')
  const text = (value: string) => value.replace(pattern, MASK)
  return { text, json: (value) => mapStrings(value, text) }
}

/** As it is, as a JSON string shows it, and each longer line of a text of several lines. */
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
 * A value that could be an ordinary word (`password`, `postgres`) is replaced only where it is the whole
 * text or stands alone in quotes, another short one only as a whole word: names of arguments and prose stay readable.
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
 * Replaces what `flags` marks: `true` hides the whole value, objects and lists mirror its shape.
 * Null stays visible: that a value is absent is no secret.
 */
export function maskFlagged(value: Json, flags: Json | undefined): Json {
  if (flags === true) return value === null ? null : MASK
  if (Array.isArray(value) && Array.isArray(flags)) return value.map((item, index) => maskFlagged(item, flags[index]))
  if (isJsonObject(value) && isJsonObject(flags))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskFlagged(item, ownFlag(flags, key))]))
  return value
}

/** The flag of a key, never one of the prototype. */
export const ownFlag = (flags: { [key: string]: Json }, key: string): Json | undefined =>
  Object.hasOwn(flags, key) ? flags[key] : undefined
