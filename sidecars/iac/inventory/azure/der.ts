/** One element of DER. */
export interface Element {
  /** The identifier octet: class, constructed bit and number. */
  tag: number
  content: Uint8Array
}

export const SEQUENCE = 0x30
export const OCTETS = 0x04
export const INTEGER = 0x02
export const OBJECT_ID = 0x06
/** `[0]`, constructed and primitive. */
export const CONTEXT_0 = 0xa0
export const CONTEXT_0_PRIMITIVE = 0x80

/**
 * The elements that stand one after the other in these bytes.
 * Errors: `RangeError` for anything that is not DER, lengths of the indefinite form of BER included.
 */
export function elements(bytes: Uint8Array): Element[] {
  const all: Element[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0
    const { length, header } = lengthAt(bytes, at + 1)
    const start = at + 1 + header
    if ((tag & 0x1f) === 0x1f || start + length > bytes.length) throw new RangeError('not DER')
    all.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return all
}

function lengthAt(bytes: Uint8Array, at: number): { length: number; header: number } {
  const first = bytes[at]
  if (first === undefined || first === 0x80 || first > 0x84) throw new RangeError('not DER')
  if (first < 0x80) return { length: first, header: 1 }
  const count = first & 0x7f
  let length = 0
  for (let i = 1; i <= count; i++) {
    const octet = bytes[at + i]
    if (octet === undefined) throw new RangeError('not DER')
    length = length * 256 + octet
  }
  return { length, header: 1 + count }
}

/** The elements inside the first element, which has to carry this tag. */
export const inside = (bytes: Uint8Array, tag: number): Element[] => elements(contentOf(elements(bytes)[0], tag))

/** Errors: `RangeError` when the element is absent or another. */
export function contentOf(element: Element | undefined, tag: number): Uint8Array {
  if (element?.tag !== tag) throw new RangeError('not the expected element')
  return element.content
}

/** A small number, such as an iteration count. */
export function integer(element: Element | undefined): number {
  const bytes = contentOf(element, INTEGER)
  if (bytes.length > 4) throw new RangeError('not a small number')
  return bytes.reduce((value, octet) => value * 256 + octet, 0)
}

/** In dotted form. */
export function objectId(element: Element | undefined): string {
  const [first = 0, ...rest] = contentOf(element, OBJECT_ID)
  const parts = [Math.min(Math.floor(first / 40), 2), first - Math.min(Math.floor(first / 40), 2) * 40]
  let value = 0
  for (const octet of rest) {
    value = value * 128 + (octet & 0x7f)
    if (octet >= 0x80) continue
    parts.push(value)
    value = 0
  }
  return parts.join('.')
}
