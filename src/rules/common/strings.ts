import { isJsonObject, type Json, ownMember } from '../../base/json.ts'
import type { View } from '../rule.ts'

/** A text in the values of a resource. */
export interface AttributeText {
  /** Attribute that contains the text. */
  attribute: string
  /** Its key in a map, or the `name` beside it in a list of `{name, value}`; else the attribute. */
  key: string
  text: string
  sensitive: boolean
}

const MAX_DEPTH = 40
/** Attributes that may be base64; the encoded and the decoded text are both listed. */
const ENCODED = /^(user_data|user_data_base64|custom_data|binary_data|content_base64|metadata|secret_binary)$/
const BASE64 = /^[A-Za-z0-9+/\s]{24,}(?:={1,2}\s*)?$/
const MAX_ENCODED = 100_000

/** Lists every text in the planned values; JSON documents are not parsed. */
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
      // Variable lists are written `{name: "DB_PASSWORD", value: "…"}`: the name is the value's key.
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
