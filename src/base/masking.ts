import { ExactNumber, isJsonObject, type Json, ownMember } from './json.ts'
import { Matcher } from './matcher.ts'
import { finish, inSlices } from './slices.ts'
import { escapedForms, urlForms } from './text.ts'

/** Replacement of a sensitive value, the same as the engine's. */
export const MASK = '(sensitive value)'

/** Masks the sensitive values that it was made for. */
export interface Masker {
  /** Masks them in a text, also where they are escaped as in JSON or in the engine's language. */
  text(text: string): string
  /** Does the same as `text` in slices, which keep the event loop free. A short text has no pause. */
  textInSlices(text: string): Promise<string>
  /** Masks them in every string and exact number of a JSON value except its keys. */
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
  const forms = [...literals].flatMap(literalForms).filter((form) => form.length >= MIN_LITERAL && !HARMLESS.test(form))
  if (forms.length === 0) return { text: (text) => text, textInSlices: async (text) => text, json: (value) => value }
  const matcher = new Matcher(forms)
  const text = (value: string) => finish(hideMatches(value, matcher))
  return {
    text,
    textInSlices: (value) => inSlices(hideMatches(value, matcher)),
    json: (value) => mapStrings(value, text),
  }
}

/** Replaces each match with the mask. Overlapping matches get one mask together, so that no part of one remains. */
function* hideMatches(text: string, matcher: Matcher): Generator<void, string> {
  const pieces: string[] = []
  let shown = 0
  const matches = yield* matcher.search(text, { accepts: (form, at) => counts(form, text, at) })
  for (const { start, end } of matches) {
    pieces.push(text.slice(shown, start), MASK)
    shown = end
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(shown)].join('')
}

/**
 * Returns the forms of a value in a text: as is and as documents and addresses escape it. Of a multi-line value such as a
 * private key, each line of at least eight characters counts too, because a log may show a single line.
 */
function literalForms(literal: string): string[] {
  const lines = literal.includes('\n')
    ? literal
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.length >= MIN_UNBOUNDED)
    : []
  // The engine composes characters that the code may have as letters and accents.
  const written = [literal, ...lines].flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')])
  return [...new Set(written)].flatMap((text) => [...escapedForms(text), ...urlForms(text)])
}

const ENDS_IN_WORD = /[\p{L}\p{N}_]$/u
const BEGINS_IN_WORD = /^[\p{L}\p{N}_]/u
const QUOTE = /["'`]/

/**
 * True if a form counts at a place of a text. A form that could be an ordinary word does only as the whole text or
 * alone in quotes, and any other short one only as a whole word: with the password `postgres`, the name
 * `postgres_version` and the sentence `a postgres server` stay readable.
 */
function counts(form: string, text: string, at: number): boolean {
  const next = text.slice(at + form.length, at + form.length + 2)
  if (WORD.test(form)) {
    const closing = next.startsWith('\\') ? next.charAt(1) : next.charAt(0)
    return (at === 0 || QUOTE.test(text.charAt(at - 1))) && (next === '' || QUOTE.test(closing))
  }
  // The second unit of a character begins nothing.
  if ((text.codePointAt(at - 1) ?? 0) > 0xffff) return false
  if (form.length >= MIN_UNBOUNDED) return true
  return !ENDS_IN_WORD.test(text.slice(Math.max(0, at - 2), at)) && !BEGINS_IN_WORD.test(next)
}

function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  // A partly masked number would allow guessing the rest.
  if (value instanceof ExactNumber) return change(value.text) === value.text ? value : MASK
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
