/** Limits of a JSON document beside that of its bytes. */
export interface JsonLimits {
  /** Values and keys of all levels together. Each of them costs more than its bytes. */
  values: number
  /** Lists and objects inside each other. */
  depth: number
}

/** Enough for everything that the platform is sent, and parsed within some milliseconds. */
export const JSON_LIMITS: JsonLimits = { values: 20_000, depth: 100 }

/** The document holds more than its limits allow. The message is meant for who sent it. */
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
 * Parses JSON in UTF-8, and looks at its size before: a parser takes many times the memory and time of a text for one
 * that consists of a hundred thousand small values, and nesting can exceed the stack of what works with it later.
 * Errors: `JsonTooLarge`; `TypeError` for bytes that are no UTF-8; `SyntaxError` for a text that is no JSON.
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
