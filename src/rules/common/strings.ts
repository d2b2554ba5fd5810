import { isJsonObject, type Json } from '../../base/json.ts'
import { ownFlag } from '../../base/masking.ts'
import type { View } from '../types.ts'

/** A text of a resource: the attribute it stands in, the key next to it, and whether the plan marks it sensitive. */
export interface Found {
  attribute: string
  /** Key of the map, or `name` of the pair, that the text belongs to. */
  key: string
  text: string
  sensitive: boolean
}

const MAX_DEPTH = 40
/** Attributes that hold their text in base64. */
const ENCODED = /^(user_data|user_data_base64|custom_data|binary_data|content_base64|metadata|secret_binary)$/
const BASE64 = /^[A-Za-z0-9+/\s]{24,}(?:={1,2}\s*)?$/
const MAX_ENCODED = 100_000

/** Every text in the planned values, JSON in strings as the text it is. */
export function stringsOf({ values, sensitive }: View): Found[] {
  const found: Found[] = []
  for (const [attribute, value] of Object.entries(values))
    collect(
      value,
      isJsonObject(sensitive) ? ownFlag(sensitive, attribute) : sensitive,
      { attribute, key: attribute, depth: 0 },
      found,
    )
  return found
}

interface Place {
  attribute: string
  key: string
  depth: number
}

function collect(value: Json, flags: Json | undefined, place: Place, found: Found[]): void {
  if (place.depth > MAX_DEPTH) return
  const depth = place.depth + 1
  if (typeof value === 'string') {
    const { attribute, key } = place
    found.push({ attribute, key, text: value, sensitive: flags === true })
    const decoded = ENCODED.test(attribute) ? decodedText(value) : null
    if (decoded !== null) found.push({ attribute, key, text: decoded, sensitive: flags === true })
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      collect(item, Array.isArray(flags) ? flags[index] : flags, { ...place, depth }, found)
    })
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      // `{name: "DB_PASSWORD", value: "…"}` is how lists of variables are written.
      const named = key === 'value' && typeof value.name === 'string' ? value.name : key
      collect(item, isJsonObject(flags) ? ownFlag(flags, key) : flags, { ...place, key: named, depth }, found)
    }
  }
}

function decodedText(text: string): string | null {
  if (text.length > MAX_ENCODED || !BASE64.test(text)) return null
  try {
    return atob(text.replaceAll(/\s/g, ''))
  } catch {
    return null
  }
}
