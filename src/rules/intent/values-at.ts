import { isJsonObject, type Json, ownMember, parseJson } from '../../base/json.ts'
import { hasMark, itemMarks, memberMarks } from '../../plan/value-marks.ts'
import type { Marked } from './statement.ts'

/** The values at a path. */
export interface PathValues {
  values: Json[]
  /** True if some are known only after the apply. */
  unknown: boolean
  /** True if some are sensitive: their presence may be stated, but not their content. */
  sensitive: boolean
}

const MAX_STEPS = 20
/** Most values of one path that are read. */
const MAX_VALUES = 1_000
/** Longest text that is parsed as JSON, for example a policy. */
const MAX_DOCUMENT = 100_000

/**
 * Finds every value at a path, such as `rule[0].status`, `tags["a.b"]` or `policy.Statement.Action`. A step without an
 * index covers all items of a list. JSON texts, such as policies, are parsed. Keys match in any letter case.
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

/** Splits a path into steps, the attribute first; drops `[*]` and `*`, since lists are covered anyway. */
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

/** Returns the key that equals a step, in another letter case if necessary. */
function findKey(value: { [key: string]: Json }, step: string): string | undefined {
  if (Object.hasOwn(value, step)) return step
  const lower = step.toLowerCase()
  return Object.keys(value).find((key) => key.toLowerCase() === lower)
}

/** Parses a JSON text; other values stay as they are. */
function parseDocument(marked: Marked): Marked {
  const { value } = marked
  if (typeof value !== 'string' || value.length > MAX_DOCUMENT || !/^\s*[{[]/.test(value)) return marked
  const document = parseJson(value)
  return document === undefined ? marked : { ...marked, value: document }
}
