/**
 * Shortens a text that is too long for a model to its beginning and end, with a marker that says how many characters
 * are missing. Words stay whole.
 * @param limit maximum UTF-16 units to keep, half at each end, without the marker
 */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  const start = wordEndBefore(text, head)
  const from = text.length - tail
  const cut = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from
  const word = isInWord(text, cut) ? /^\S+\s+/.exec(text.slice(cut, cut + MAX_WORD))?.[0].length : 0
  const end = cut + (word ?? 0)
  return `${text.slice(0, start)}\n[… ${end - start} characters left out …]\n${text.slice(end)}`
}

/** Cuts a text to `limit` UTF-16 units including the ellipsis, at the end of a word. */
export const cutEnd = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, wordEndBefore(text, limit - 1)).trimEnd()}…`

/** Longest text that counts as one word; longer ones are cut inside. */
const MAX_WORD = 40

const isInWord = (text: string, at: number): boolean => /^\S\S$/.test(text.slice(at - 1, at + 1))

/** Returns the end of the last whole word that ends at `at` or before, or `at` itself inside of what is no word. */
function wordEndBefore(text: string, at: number): number {
  const end = isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at
  if (!isInWord(text, end)) return end
  const begun = /\s+\S*$/.exec(text.slice(Math.max(0, end - MAX_WORD), end))?.[0].length
  return end - (begun ?? 0)
}

const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** True if the text is a uuid in its usual form, in upper or lower case. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Longer texts are compared by their beginning only. */
const MAX_COMPARED = 200

/** Returns the Levenshtein distance of two texts. */
export function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, MAX_COMPARED), b.slice(0, MAX_COMPARED)]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** Returns the distance, or Infinity if the lengths alone differ by more than `limit`. */
export const distanceWithin = (a: string, b: string, limit: number): number =>
  Math.abs(a.length - b.length) > limit ? Infinity : editDistance(a, b)

/** Returns the words of a text, which any blanks separate. */
export const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** Joins names with commas, at most `limit` of them: `a, b and 3 more`. */
export function joinNames(names: readonly string[], limit: number): string {
  const more = names.length - limit
  return `${names.slice(0, limit).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Adds the full stop that a sentence lacks. */
export const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Joins names like `joinNames`, each in backticks. */
export const quoteNames = (names: readonly string[], limit: number): string =>
  joinNames(
    names.map((name) => `\`${name}\``),
    limit,
  )

/** Joins a relative POSIX path to a folder and resolves its dots; a result outside of the root begins with `..`. */
export function joinUpwards(folder: string, path: string): string {
  const parts: string[] = []
  for (const part of `${folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}

/**
 * Joins a relative POSIX path to a folder and resolves its dots; empty for the root, null for a path that leaves it.
 */
export function joinPath(folder: string, path: string): string | null {
  const joined = joinUpwards(folder, path)
  return joined === '..' || joined.startsWith('../') ? null : joined
}

/** Encodes like `encodeURIComponent`, and also `!'()*`. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the regular expression for a literal text. Node.js has `RegExp.escape` only from version 24 on. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Compares a whole text with a pattern in which `*` stands for any text. */
export const matchesWildcard = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.split('*').map(escapePattern).join('.*')}$`, 's').test(text)

/** Depth of nested JSON documents, each of which escapes the one inside it. */
const LEVELS = 3

/**
 * Returns the forms in which programs write a text into a document: as it is, in JSON and in the engine's language,
 * also where one holds another. The engine's JSON escapes signs of HTML and two line separators, other writers all
 * characters outside of ASCII, or slashes.
 */
export function escapedForms(text: string): Set<string> {
  if (/^[\w .,:;=+-]*$/.test(text)) return new Set([text])
  const json = jsonOf(text)
  const forms = new Set([text, text.replaceAll('\n', '\r\n'), json, json.replace(/[\u007f-\uffff]/g, hexEscape)])
  forms.add(json.replaceAll('/', '\\/'))
  let level = [text, ...forms, ...[text, json].map((form) => form.replace(/[$%](?=\{)/g, '$&$&'))]
  for (const form of level) forms.add(form)
  for (let depth = 0; depth < LEVELS; depth++) {
    level = [...new Set(level.map(jsonOf).flatMap((form) => [form, form.replace(/[<>&\u2028\u2029]/g, hexEscape)]))]
    for (const form of level) forms.add(form)
  }
  return forms
}

/** Returns the forms in which programs write a text into an address. */
export function urlForms(text: string): string[] {
  if (/^[\w.~-]*$/.test(text)) return []
  const wellFormed = text.toWellFormed()
  const strict = percentEncode(wellFormed)
  const forms = [encodeURIComponent(wellFormed), strict, strict.replaceAll('%20', '+'), encodeURI(wellFormed)]
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
}

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1)

const hexEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
