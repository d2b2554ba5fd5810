/** Limits of a JSON document besides its size in bytes. */
interface JsonLimits {
  /** Values and keys of all levels together. Each costs more memory than its bytes. */
  values: number
  /** Nesting of lists and objects. */
  depth: number
}

/** Large enough for every request, and parsed within milliseconds. */
const JSON_LIMITS: JsonLimits = { values: 20_000, depth: 100 }

/** The document exceeds the limits. The message is meant for the sender. */
export class JsonTooLarge extends Error {
  readonly limit: keyof JsonLimits
  constructor(limit: keyof JsonLimits, most: number) {
    super(limit === 'values' ? `holds more than ${most} keys and values` : `is nested more than ${most} levels deep`)
    this.name = 'JsonTooLarge'
    this.limit = limit
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Parses JSON in UTF-8 after checking its limits: a hundred thousand small values take many times the memory and time
 * of their text, and deep nesting can overflow the stack of later code. Throws `JsonTooLarge`; `TypeError` for invalid
 * UTF-8; `SyntaxError` for invalid JSON.
 */
export function parseLimitedJson(bytes: Uint8Array, limits: JsonLimits = JSON_LIMITS): unknown {
  measure(bytes, limits)
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

function measure(bytes: Uint8Array, limits: JsonLimits): void {
  let [values, depth, quoted] = [1, 0, false]
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (quoted) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) {
      quoted = true
    } else if (byte === COMMA || byte === COLON) {
      values++
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      depth++
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--
    }
    if (depth > limits.depth) throw new JsonTooLarge('depth', limits.depth)
    if (values > limits.values) throw new JsonTooLarge('values', limits.values)
  }
}
