import { isJsonObject, type Json, parseJson } from '../base/json.ts'

/** A code fence around the whole text. */
const FENCE = /^\s*```[\w-]*\s*\n([\s\S]*?)\n?\s*```\s*$/

/**
 * Returns the arguments of a call as the text of one JSON object. Values, code fences, JSON within a JSON text and
 * empty objects beside the only full one are read, because nothing has to be guessed. Any other text stays as it is,
 * for whoever checks it to say what is wrong.
 */
export function argumentsText(args: unknown): string {
  if (args === null || args === undefined) return ''
  if (typeof args !== 'string') return JSON.stringify(args) ?? ''
  const value = parseJson(args)
  if (isJsonObject(value)) return args
  if (typeof value === 'string') return isJsonObject(parseJson(value)) ? value : args
  const fenced = FENCE.exec(args)?.[1]
  if (fenced !== undefined && isJsonObject(parseJson(fenced))) return fenced
  return soleObject(args) ?? args
}

/** Returns the only object with members of a sequence of objects: some servers begin with an empty one. */
function soleObject(text: string): string | null {
  const full: string[] = []
  for (let at = 0; at < text.length; ) {
    const found = readValue(text, at)
    if (!found || !isJsonObject(found.value)) return null
    if (Object.keys(found.value).length > 0) full.push(text.slice(at, found.end).trim())
    at = found.end + (/^\s*/.exec(text.slice(found.end))?.[0].length ?? 0)
  }
  return full.length === 1 ? (full[0] ?? null) : null
}

/** Reads the JSON object or list that begins at a place; null when it is not closed or not JSON. */
export function readValue(text: string, from: number): { value: Json; end: number } | null {
  let depth = 0
  let inString = false
  for (let at = from; at < text.length; at++) {
    const letter = text.charAt(at)
    if (inString) {
      if (letter === '\\') at++
      else if (letter === '"') inString = false
    } else if (letter === '"') inString = true
    else if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') {
      if (--depth > 0) continue
      const value = depth === 0 ? parseJson(text.slice(from, at + 1)) : undefined
      return value === undefined ? null : { value, end: at + 1 }
    }
  }
  return null
}
