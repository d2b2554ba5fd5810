import { isJsonObject, type Json } from '../base/json.ts'
import { ownFlag } from '../base/masking.ts'
import type { Marked } from './types.ts'

/** What stands at a path. */
export interface Found {
  values: Json[]
  /** A part of what the path names is known only after the apply. */
  unknown: boolean
  /** A part of it is sensitive: it may be told that it is there, not what it is. */
  sensitive: boolean
}

const MAX_STEPS = 20
/** Values that one path may name together. */
const MAX_VALUES = 1_000
/** Longest text that is read as a document, for example a policy. */
const MAX_DOCUMENT = 100_000

/**
 * Everything that the steps of a path name, such as `rule[0].status`, `tags["a.b"]` or `policy.Statement.Action` names. Lists are
 * gone through where the path has no index; a text that is a JSON document is entered; keys match in any
 * letter case.
 */
export function valuesAt(root: Marked, steps: readonly string[]): Found {
  let reached: Marked[] = [root]
  const found: Found = { values: [], unknown: false, sensitive: false }
  for (const step of steps) {
    const next: Marked[] = []
    for (const marked of reached) {
      if (marked.unknown === true) found.unknown = true
      else next.push(...taken(entered(marked), step))
      if (marked.sensitive === true) found.sensitive = true
    }
    reached = next.slice(0, MAX_VALUES)
  }
  for (const { value, unknown, sensitive } of reached) {
    if (holdsTrue(unknown)) found.unknown = true
    if (holdsTrue(sensitive)) found.sensitive = true
    if (value !== null || unknown !== true) found.values.push(value)
  }
  return found
}

/** Steps of a path; the first is the attribute. `[*]` and `*` go through a list, which happens anyway. */
export function stepsOf(path: string): string[] {
  const steps = [...path.trim().matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, double, single, index, key]) => double ?? single ?? index ?? key ?? '',
  )
  return steps
    .map((step) => step.trim())
    .filter((step) => step !== '' && step !== '*')
    .slice(0, MAX_STEPS)
}

function taken(marked: Marked, step: string): Marked[] {
  const { value, unknown, sensitive } = marked
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_VALUES).map((item, index) => ({
      value: item,
      unknown: itemOf(unknown, index),
      sensitive: itemOf(sensitive, index),
    }))
    if (/^\d{1,6}$/.test(step)) return items.slice(Number(step), Number(step) + 1)
    return items.flatMap((item) => taken(entered(item), step))
  }
  if (!isJsonObject(value)) return []
  const key = keyLike(value, step) ?? (isJsonObject(unknown) ? keyLike(unknown, step) : undefined)
  if (key === undefined) return []
  return [{ value: ownFlag(value, key) ?? null, unknown: memberOf(unknown, key), sensitive: memberOf(sensitive, key) }]
}

function keyLike(value: { [key: string]: Json }, step: string): string | undefined {
  if (Object.hasOwn(value, step)) return step
  const lower = step.toLowerCase()
  return Object.keys(value).find((key) => key.toLowerCase() === lower)
}

/** A text that is a JSON document, as that document. */
function entered(marked: Marked): Marked {
  const { value } = marked
  if (typeof value !== 'string' || value.length > MAX_DOCUMENT || !/^\s*[{[]/.test(value)) return marked
  try {
    const document: Json = JSON.parse(value)
    return { ...marked, value: document }
  } catch {
    return marked
  }
}

const itemOf = (flags: Json | undefined, index: number): Json | undefined =>
  Array.isArray(flags) ? flags[index] : inherited(flags)
const memberOf = (flags: Json | undefined, key: string): Json | undefined =>
  isJsonObject(flags) ? ownFlag(flags, key) : inherited(flags)
const inherited = (flags: Json | undefined): true | undefined => (flags === true ? true : undefined)

const MAX_DEPTH = 60

function holdsTrue(flags: Json | undefined, depth = 0): boolean {
  if (flags === true || depth > MAX_DEPTH) return true
  if (Array.isArray(flags)) return flags.some((item) => holdsTrue(item, depth + 1))
  return isJsonObject(flags) && Object.values(flags).some((item) => holdsTrue(item, depth + 1))
}
