import { isJsonObject, type Json } from '../base/json.ts'
import { MASK, ownFlag } from '../base/masking.ts'

/** Differences by path, for example `tags["a b"].list[2]`; the top is the empty path. */
export interface Differences {
  changed?: Record<string, { old_value: Json; new_value: Json }>
  added?: Record<string, Json>
  removed?: Record<string, Json>
}

/** One side of a comparison with what is known about its values. */
export interface Side {
  value: Json
  sensitive?: Json
  /** `true` where the value is not known: nothing is compared there. */
  unknown?: Json
}

/**
 * What turns `from` into `to`. Values that either side marks sensitive are masked, unknown ones
 * skipped. Null and absent are the same. Lists are compared without their common head and tail.
 */
export function differences(from: Side, to: Side): Differences {
  // No prototype: a path may be any key of a map, `__proto__` included.
  const found: Required<Differences> = {
    changed: Object.create(null),
    added: Object.create(null),
    removed: Object.create(null),
  }
  compare(from, to, '', found)
  return Object.fromEntries(Object.entries(found).filter(([, entries]) => Object.keys(entries).length > 0))
}

export const isEmpty = (found: Differences): boolean => Object.keys(found).length === 0

function compare(from: Side, to: Side, path: string, found: Required<Differences>): void {
  if (from.unknown === true || to.unknown === true) return
  if (equal(from.value, to.value)) return
  const hidden = from.sensitive === true || to.sensitive === true
  if (!hidden && isJsonObject(from.value) && isJsonObject(to.value)) {
    for (const key of new Set([...Object.keys(from.value), ...Object.keys(to.value)]))
      compare(member(from, key), member(to, key), step(path, key), found)
  } else if (!hidden && Array.isArray(from.value) && Array.isArray(to.value)) {
    compareLists(from, to, path, found)
  } else if (from.value === null) {
    found.added[path] = shown(to, hidden)
  } else if (to.value === null) {
    found.removed[path] = shown(from, hidden)
  } else {
    found.changed[path] = { old_value: shown(from, hidden), new_value: shown(to, hidden) }
  }
}

function compareLists(from: Side, to: Side, path: string, found: Required<Differences>): void {
  const left = items(from)
  const right = items(to)
  const shorter = Math.min(left.length, right.length)
  let head = 0
  while (head < shorter && equal(left[head]?.value, right[head]?.value)) head++
  let tail = 0
  while (tail < shorter - head && equal(left.at(-1 - tail)?.value, right.at(-1 - tail)?.value)) tail++
  const absent: Side = { value: null }
  for (let index = head; index < Math.max(left.length, right.length) - tail; index++)
    compare(
      index < left.length - tail ? (left[index] ?? absent) : absent,
      index < right.length - tail ? (right[index] ?? absent) : absent,
      `${path}[${index}]`,
      found,
    )
}

/** The value with every nested sensitive part masked. */
function shown(side: Side, hidden: boolean): Json {
  if (hidden || side.sensitive === true) return MASK
  if (Array.isArray(side.value)) return items(side).map((item) => shown(item, false))
  if (!isJsonObject(side.value)) return side.value
  return Object.fromEntries(Object.keys(side.value).map((key) => [key, shown(member(side, key), false)]))
}

const member = (side: Side, key: string): Side => ({
  value: isJsonObject(side.value) ? (ownFlag(side.value, key) ?? null) : null,
  sensitive: isJsonObject(side.sensitive) ? ownFlag(side.sensitive, key) : undefined,
  unknown: isJsonObject(side.unknown) ? ownFlag(side.unknown, key) : undefined,
})

const items = (side: Side): Side[] =>
  Array.isArray(side.value)
    ? side.value.map((value, index) => ({
        value,
        sensitive: Array.isArray(side.sensitive) ? side.sensitive[index] : undefined,
        unknown: Array.isArray(side.unknown) ? side.unknown[index] : undefined,
      }))
    : []

const step = (path: string, key: string): string => {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Deep equality of JSON values, order of keys ignored. */
function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
}
