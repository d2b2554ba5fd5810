import { isJsonObject, type Json, ownMember } from '../../base/json.ts'
import { hasMark, itemMarks, memberMarks } from '../../plan/value-marks.ts'
import type { Marked } from './statement.ts'

/** The values that a path leads to. */
export interface PathValues {
  values: Json[]
  /** True if a part of them is known only after the apply. */
  unknown: boolean
  /** True if a part of them is sensitive: one may say that there is a value, but not which. */
  sensitive: boolean
}

const MAX_STEPS = 20
/** At most so many values of one path are looked at. */
const MAX_VALUES = 1_000
/** Longest text that is parsed as a JSON document, for example a policy. */
const MAX_DOCUMENT = 100_000

/**
 * Finds every value that a path leads to, such as `rule[0].status`, `tags["a.b"]` or `policy.Statement.Action`. Without
 * an index a step goes through all items of a list. A text that is a JSON document, such as a policy, is parsed and
 * entered. Keys match in any letter case.
 */
export function valuesAt(root: Marked, steps: readonly string[]): PathValues {
  let reached: Marked[] = [root]
  const result: PathValues = { values: [], unknown: false, sensitive: false }
  for (const step of steps) {
    const next: Marked[] = []
    for (const marked of reached) {
      if (marked.unknown === true) result.unknown = true
      else next.push(...takeStep(parseDocument(marked), step))
      if (marked.sensitive === true) result.sensitive = true
    }
    reached = next.slice(0, MAX_VALUES)
  }
  for (const { value, unknown, sensitive } of reached) {
    if (hasMark(unknown)) result.unknown = true
    if (hasMark(sensitive)) result.sensitive = true
    if (value !== null || unknown !== true) result.values.push(value)
  }
  return result
}

/** Splits a path into steps; the first is the attribute. `[*]` and `*` are dropped: a list is gone through anyway. */
export function stepsOf(path: string): string[] {
  const steps = [...path.trim().matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, double, single, index, key]) => double ?? single ?? index ?? key ?? '',
  )
  return steps
    .map((step) => step.trim())
    .filter((step) => step !== '' && step !== '*')
    .slice(0, MAX_STEPS)
}

function takeStep(marked: Marked, step: string): Marked[] {
  const { value, unknown, sensitive } = marked
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_VALUES).map((item, index) => ({
      value: item,
      unknown: itemMarks(unknown, index),
      sensitive: itemMarks(sensitive, index),
    }))
    if (/^\d{1,6}$/.test(step)) return items.slice(Number(step), Number(step) + 1)
    return items.flatMap((item) => takeStep(parseDocument(item), step))
  }
  if (!isJsonObject(value)) return []
  const key = findKey(value, step) ?? (isJsonObject(unknown) ? findKey(unknown, step) : undefined)
  if (key === undefined) return []
  return [
    {
      value: ownMember(value, key) ?? null,
      unknown: memberMarks(unknown, key),
      sensitive: memberMarks(sensitive, key),
    },
  ]
}

/** The key of an object that equals a step, if need be in another letter case. */
function findKey(value: { [key: string]: Json }, step: string): string | undefined {
  if (Object.hasOwn(value, step)) return step
  const lower = step.toLowerCase()
  return Object.keys(value).find((key) => key.toLowerCase() === lower)
}

/** Replaces a text that is a JSON document by that document; any other value stays as it is. */
function parseDocument(marked: Marked): Marked {
  const { value } = marked
  if (typeof value !== 'string' || value.length > MAX_DOCUMENT || !/^\s*[{[]/.test(value)) return marked
  try {
    const document: Json = JSON.parse(value)
    return { ...marked, value: document }
  } catch {
    return marked
  }
}
