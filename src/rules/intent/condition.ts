import { ExactNumber, isJsonObject, type Json, parseJson } from '../../base/json.ts'
import { hasMark, type Marked, markedItems, markedMember } from '../../plan/value-marks.ts'
import { fits } from './glob.ts'
import type { Resource } from './resources.ts'
import type { Condition, Operator, Scalar } from './statement.ts'

/**
 * Judges whether the planned values of a resource meet a condition.
 * @param steps steps of the condition's path, to share between resources
 * @returns `holds`: null where the plan cannot tell; `description`: planned value at the path, without sensitive parts
 */
export function judge(resource: Resource, condition: Condition, steps = stepsOf(condition.path)) {
  const { values } = resource
  if (values === null) return { holds: false, description: 'nothing: it is destroyed' }
  const [attribute = ''] = steps
  if (!hasAttribute(resource, attribute)) return { holds: null, description: `no attribute ${attribute.slice(0, 100)}` }
  const stated = valuesAt(values, steps)
  const isConfigured = hasKey(resource.expressions, attribute)
  return { holds: holdsFor(stated, condition, isConfigured), description: describeValues(stated) }
}

/** Reports whether the condition holds; null where the plan cannot tell. `isConfigured`: code sets the attribute. */
function holdsFor(stated: PathValues, { op, value }: Condition, isConfigured: boolean): boolean | null {
  if (op === 'exists' || op === 'absent') {
    const present = stated.values.some((item) => !isNothing(item)) || (stated.unknown && isConfigured)
    // The cloud may fill in what the code leaves out, so presence is unknown before the apply.
    if (!present && stated.unknown) return null
    return present === (op === 'exists')
  }
  if (stated.sensitive) return null
  const results = stated.values.map((item) => compareValue(item, op, value))
  if (isNegative(op)) {
    if (results.includes(false)) return false
    return stated.unknown || results.includes(null) ? null : true
  }
  if (results.includes(true)) return true
  return stated.unknown || results.includes(null) ? null : false
}

/** Reports whether the resource has an attribute; if not, the model guessed its name and the condition is void. */
const hasAttribute = ({ values, expressions }: Resource, attribute: string): boolean =>
  [values?.value, values?.unknown, expressions].some((holder) => hasKey(holder, attribute))

const hasKey = (holder: Json | undefined, key: string): boolean => findKey(holder, key) !== undefined

const MAX_SHOWN = 120

function describeValues({ values, unknown, sensitive }: PathValues): string {
  if (sensitive) return 'a value that is sensitive'
  const [first] = values
  if (values.length === 0) return unknown ? 'a value known only after apply' : 'nothing'
  const text = JSON.stringify(values.length === 1 ? first : values)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

/** Reports whether an operator must hold for every value at a path; others for one of them. */
export const isNegative = (op: Operator): boolean => op === 'ne' || op === 'not_contains' || op === 'absent'

/** Reports whether a value is absent, null, false, an empty text or object, or a list of such values. */
function isNothing(value: Json, depth = 0): boolean {
  if (value === null || value === false || value === '') return true
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.every((item) => isNothing(item, depth + 1))
  return isJsonObject(value) && Object.keys(value).length === 0
}
/** Deepest nesting of lists that is compared. */
const MAX_DEPTH = 20

/** Compares a planned value with the wanted one; null when they cannot be compared. */
export function compareValue(value: Json, op: Operator, wanted: Scalar | undefined): boolean | null {
  if (op === 'exists') return !isNothing(value)
  if (op === 'absent') return isNothing(value)
  if (wanted === undefined) return null
  if (op === 'eq') return equals(value, wanted)
  if (op === 'ne') return !equals(value, wanted)
  if (op === 'contains') return contains(value, wanted)
  if (op === 'not_contains') return !contains(value, wanted)
  if (op === 'matches') return scalarsOf(value).some((item) => fits(String(wanted), String(item)))
  const limit = numberOf(wanted)
  const numbers = scalarsOf(value).map(numberOf)
  if (limit === null || numbers.length === 0 || numbers.includes(null)) return value === null ? false : null
  return numbers.every((number) => number !== null && (op === 'at_least' ? number >= limit : number <= limit))
}

/** Reports equality: of numbers, else of text in any letter case; a list of one item counts as that item. */
function equals(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return listEquals(value, wanted, depth)
  if (value === null || isJsonObject(value)) return false
  if (value instanceof ExactNumber)
    // A wanted number was rounded when it was read, a wanted text was not.
    return typeof wanted === 'number' ? Number(value.text) === wanted : fold(value.text) === fold(wanted)
  const [a, b] = [numberOf(value), numberOf(wanted)]
  if (a !== null && b !== null) return a === b
  return fold(value) === fold(wanted)
}

/** Reports whether a list has exactly the wanted items in any order, written `a, b` or `["a", "b"]`. */
function listEquals(list: Json[], wanted: Scalar, depth: number): boolean {
  const [only] = list
  if (list.length === 1 && only !== undefined) return depth < MAX_DEPTH && equals(only, wanted, depth + 1)
  const parts = String(wanted)
    .replace(/^\s*\[|\]\s*$/g, '')
    .split(',')
    .map(fold)
  if (parts.length !== list.length || list.length === 0) return false
  const items = list.map((item) => (Array.isArray(item) ? '' : scalarsOf(item).map(fold).join()))
  return JSON.stringify(items.toSorted()) === JSON.stringify(parts.toSorted())
}

/** Reports whether the wanted value is part of a text, a list item, or an object's key or value. */
function contains(value: Json, wanted: Scalar, depth = 0): boolean {
  if (Array.isArray(value)) return depth < MAX_DEPTH && value.some((item) => contains(item, wanted, depth + 1))
  if (isJsonObject(value))
    return Object.entries(value).some(([key, item]) => fold(key) === fold(wanted) || equals(item, wanted))
  if (value === null) return false
  return typeof value === 'string' ? fold(value).includes(fold(wanted)) : equals(value, wanted)
}

/** Returns the value itself or a list's items, scalars only. */
const scalarsOf = (value: Json): Scalar[] =>
  (Array.isArray(value) ? value : [value]).flatMap((item) => {
    if (item instanceof ExactNumber) return [item.text]
    return item !== null && typeof item !== 'object' ? [item] : []
  })

/** Normalises a scalar for comparison: without surrounding blanks and quotes, in lower case. */
const fold = (value: Scalar): string =>
  String(value)
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .toLowerCase()

function numberOf(value: Scalar): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?\d{1,15}(\.\d{1,15})?\s*$/.test(value) ? Number(value) : null
}

/** The values at a path. */
interface PathValues {
  values: Json[]
  /** True if some are known only after the apply. */
  unknown: boolean
  /** True if some are sensitive: their presence may be stated, but not their content. */
  sensitive: boolean
}

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
    .slice(0, 20)
}

function takeStep(marked: Marked, step: string): Marked[] {
  const { value, unknown } = marked
  if (Array.isArray(value)) {
    const items = markedItems(marked).slice(0, MAX_VALUES)
    if (/^\d{1,6}$/.test(step)) return items.slice(Number(step), Number(step) + 1)
    return items.flatMap((item) => takeStep(parseDocument(item), step))
  }
  if (!isJsonObject(value)) return []
  const key = findKey(value, step) ?? findKey(unknown, step)
  return key === undefined ? [] : [markedMember(marked, key)]
}

/** Returns the key of an object that equals a step, in another letter case if necessary. */
function findKey(value: Json | undefined, step: string): string | undefined {
  if (!isJsonObject(value)) return undefined
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
