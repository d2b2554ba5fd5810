import { isJsonObject, type Json, ownMember } from '../../base/json.ts'
import type { View } from '../types.ts'

/** A text of a resource: the attribute it stands in, the key next to it, and whether the plan marks it sensitive. */
export interface AttributeText {
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
export function stringsOf({ values, sensitive }: View): AttributeText[] {
  const texts: AttributeText[] = []
  for (const [attribute, value] of Object.entries(values))
    collect(
      value,
      isJsonObject(sensitive) ? ownMember(sensitive, attribute) : sensitive,
      { attribute, key: attribute, depth: 0 },
      texts,
    )
  return texts
}

interface Place {
  attribute: string
  key: string
  depth: number
}

function collect(value: Json, flags: Json | undefined, place: Place, texts: AttributeText[]): void {
  if (place.depth > MAX_DEPTH) return
  const depth = place.depth + 1
  if (typeof value === 'string') {
    const { attribute, key } = place
    texts.push({ attribute, key, text: value, sensitive: flags === true })
    const decoded = ENCODED.test(attribute) ? decodeBase64(value) : null
    if (decoded !== null) texts.push({ attribute, key, text: decoded, sensitive: flags === true })
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      collect(item, Array.isArray(flags) ? flags[index] : flags, { ...place, depth }, texts)
    })
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      // `{name: "DB_PASSWORD", value: "…"}` is how lists of variables are written.
      const name = key === 'value' && typeof value.name === 'string' ? value.name : key
      collect(item, isJsonObject(flags) ? ownMember(flags, key) : flags, { ...place, key: name, depth }, texts)
    }
  }
}

function decodeBase64(text: string): string | null {
  if (text.length > MAX_ENCODED || !BASE64.test(text)) return null
  try {
    return atob(text.replaceAll(/\s/g, ''))
  } catch {
    return null
  }
}
