import { isEqualJson, isJsonObject, type Json, ownMember } from '../base/json.ts'
import { MASK } from '../base/masking.ts'

/** Differences by path, for example `tags["a b"].list[2]`; the empty path stands for the whole value. */
export interface Differences {
  changed?: Record<string, { old_value: Json; new_value: Json }>
  added?: Record<string, Json>
  removed?: Record<string, Json>
}

/** A value to compare, with marks nested like it. */
export interface Side {
  value: Json
  /** `true` where the value is sensitive. */
  sensitive?: Json
  /** `true` where the value is known only after the apply and is not compared. */
  unknown?: Json
}

/**
 * Finds the changes from `from` to `to`. Sensitive values are masked, unknown ones are skipped, null counts as absent.
 * Equal items at both ends of two lists are skipped, so an inserted item is one addition.
 */
export function findDifferences(from: Side, to: Side): Differences {
  // Without prototypes, because a path may be any map key, including `__proto__`.
  const differences: Required<Differences> = {
    changed: Object.create(null),
    added: Object.create(null),
    removed: Object.create(null),
  }
  compare(from, to, '', differences)
  return Object.fromEntries(Object.entries(differences).filter(([, entries]) => Object.keys(entries).length > 0))
}

export const isEmpty = (differences: Differences): boolean => Object.keys(differences).length === 0

function compare(from: Side, to: Side, path: string, differences: Required<Differences>): void {
  if (from.unknown === true || to.unknown === true) return
  if (isEqualJson(from.value, to.value)) return
  const isSensitive = from.sensitive === true || to.sensitive === true
  if (!isSensitive && isJsonObject(from.value) && isJsonObject(to.value)) {
    for (const key of new Set([...Object.keys(from.value), ...Object.keys(to.value)]))
      compare(memberOf(from, key), memberOf(to, key), appendKey(path, key), differences)
  } else if (!isSensitive && Array.isArray(from.value) && Array.isArray(to.value)) {
    compareLists(from, to, path, differences)
  } else if (from.value === null) {
    differences.added[path] = maskSensitive(to, isSensitive)
  } else if (to.value === null) {
    differences.removed[path] = maskSensitive(from, isSensitive)
  } else {
    differences.changed[path] = {
      old_value: maskSensitive(from, isSensitive),
      new_value: maskSensitive(to, isSensitive),
    }
  }
}

function compareLists(from: Side, to: Side, path: string, differences: Required<Differences>): void {
  const left = itemsOf(from)
  const right = itemsOf(to)
  const shorter = Math.min(left.length, right.length)
  let head = 0
  while (head < shorter && isEqualJson(left[head]?.value, right[head]?.value)) head++
  let tail = 0
  while (tail < shorter - head && isEqualJson(left.at(-1 - tail)?.value, right.at(-1 - tail)?.value)) tail++
  const absent: Side = { value: null }
  for (let index = head; index < Math.max(left.length, right.length) - tail; index++)
    compare(
      index < left.length - tail ? (left[index] ?? absent) : absent,
      index < right.length - tail ? (right[index] ?? absent) : absent,
      `${path}[${index}]`,
      differences,
    )
}

/** Masks every sensitive part of a value. */
function maskSensitive(side: Side, hidden: boolean): Json {
  if (hidden || side.sensitive === true) return MASK
  if (Array.isArray(side.value)) return itemsOf(side).map((item) => maskSensitive(item, false))
  if (!isJsonObject(side.value)) return side.value
  return Object.fromEntries(Object.keys(side.value).map((key) => [key, maskSensitive(memberOf(side, key), false)]))
}

const memberOf = (side: Side, key: string): Side => ({
  value: isJsonObject(side.value) ? (ownMember(side.value, key) ?? null) : null,
  sensitive: isJsonObject(side.sensitive) ? ownMember(side.sensitive, key) : undefined,
  unknown: isJsonObject(side.unknown) ? ownMember(side.unknown, key) : undefined,
})

const itemsOf = (side: Side): Side[] =>
  Array.isArray(side.value)
    ? side.value.map((value, index) => ({
        value,
        sensitive: Array.isArray(side.sensitive) ? side.sensitive[index] : undefined,
        unknown: Array.isArray(side.unknown) ? side.unknown[index] : undefined,
      }))
    : []

const appendKey = (path: string, key: string): string => {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
