import { type ExactNumber, isJsonObject, type Json } from '../../base/json.ts'
import { MASK } from '../../base/masking.ts'
import { itemMarks, memberMarks } from '../value-marks.ts'
import type { DocumentPath } from './plan-document.ts'

export type Display = ReturnType<typeof createDisplay>

/** Longest text of a value, in UTF-16 units; longer texts are cut. */
const MAX_TEXT = 4_000
/** Longest key in a path, in UTF-16 units. */
const MAX_KEY = 300
/** Most values within one value that is shown as a whole. */
const MAX_VALUES = 200
/** Longest text whose masked form is cached: types, keys and identifiers recur often. */
const MAX_REMEMBERED = 200
const MAX_ENTRIES = 50_000

/** Prepares values of a plan for display. */
export function createDisplay(masker: { text(text: string): string }) {
  const known = new Map<string, string>()
  const text = (original: string): string => {
    if (original.length > MAX_REMEMBERED) return masker.text(original)
    const earlier = known.get(original)
    if (earlier !== undefined) return earlier
    const masked = masker.text(original)
    if (known.size < MAX_ENTRIES) known.set(original, masked)
    return masked
  }
  return {
    /** Masks a text of any length. */
    text,
    /** Masks the keys of a path and cuts long ones. */
    path: (path: DocumentPath): DocumentPath =>
      path.map((step) => (typeof step === 'string' ? cutText(text(step), MAX_KEY) : step)),
    /** @param marks sensitive parts, nested like the value */
    value: (value: Json, marks: Json | undefined) => {
      const seen = { left: MAX_VALUES, sensitive: false, cut: false }
      const shown = showValue(value, marks, text, seen)
      return { value: shown, sensitive: seen.sensitive, cut: seen.cut }
    },
  }
}

/** The state of a traversal of one value. */
interface Seen {
  /** Number of values that may still be shown. */
  left: number
  sensitive: boolean
  cut: boolean
}

function showValue(value: Json, marks: Json | undefined, mask: Display['text'], seen: Seen): Json {
  if (marks === true) {
    seen.sensitive ||= value !== null
    return value === null ? null : MASK
  }
  if (Array.isArray(value))
    return takeSome(value, seen).map((item, index) => showValue(item, itemMarks(marks, index), mask, seen))
  if (isJsonObject(value))
    return Object.fromEntries(
      takeSome(Object.entries(value), seen).map(([key, item]) => [
        cutText(mask(key), MAX_KEY),
        showValue(item, memberMarks(marks, key), mask, seen),
      ]),
    )
  return showScalar(value, mask, seen)
}

function showScalar(value: string | number | boolean | ExactNumber | null, mask: Display['text'], seen: Seen): Json {
  if (value === null || typeof value === 'boolean') return value
  const original = String(value)
  const masked = mask(original)
  const isNumber = typeof value !== 'string'
  if (masked === original && isNumber) return value
  // A partly masked number would allow guessing the rest.
  const whole = isNumber || masked === MASK
  if (whole) seen.sensitive = true
  if (!whole && masked.length > MAX_TEXT) seen.cut = true
  return whole ? MASK : cutText(masked, MAX_TEXT)
}

/** Returns the first entries, as many as may still be shown. */
function takeSome<Entry>(entries: Entry[], seen: Seen): Entry[] {
  const taken = entries.slice(0, Math.max(0, seen.left))
  seen.left -= taken.length
  if (taken.length < entries.length) seen.cut = true
  return taken
}

/** Cuts a long text and marks the cut. */
function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit)}…`
}
