import { isJsonObject } from '../base/json.ts'
import { compareValue, isNegative, isNothing } from './compare.ts'
import type { Resource } from './resources.ts'
import type { Condition } from './types.ts'
import { type PathValues, stepsOf, valuesAt } from './values-at.ts'

/** What the plan says about one condition on one resource. */
export interface Judgement {
  /** Whether the condition holds; null where the plan cannot tell. */
  holds: boolean | null
  /** What the plan has at the path, without sensitive values. */
  description: string
}

/**
 * Judges whether the planned values of a resource are as a condition says.
 * @param steps steps of the condition's path, for callers that judge many resources
 */
export function judge(resource: Resource, condition: Condition, steps = stepsOf(condition.path)): Judgement {
  const { values } = resource
  if (values === null) return { holds: false, description: 'nothing: it is destroyed' }
  const [attribute = ''] = steps
  if (!hasAttribute(resource, attribute)) return { holds: null, description: `no attribute ${attribute.slice(0, 100)}` }
  const stated = valuesAt(values, steps)
  const isConfigured = hasKey(resource.expressions, attribute)
  return { holds: holdsFor(stated, condition, isConfigured), description: describeValues(stated) }
}

/**
 * Whether the condition holds; null where the plan cannot tell.
 * @param isConfigured whether the code sets the attribute
 */
function holdsFor(stated: PathValues, { op, value }: Condition, isConfigured: boolean): boolean | null {
  if (op === 'exists' || op === 'absent') {
    const present = stated.values.some((item) => !isNothing(item)) || (stated.unknown && isConfigured)
    // The cloud fills in what the code leaves out: nobody can tell before the apply whether there will be a value.
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

/**
 * Whether the resource has an attribute of this name. Where it has none, the model that wrote the condition guessed the
 * name wrongly, so that the condition says nothing about the plan.
 */
const hasAttribute = ({ values, expressions }: Resource, attribute: string): boolean =>
  [values?.value, values?.unknown, expressions].some((holder) => hasKey(holder ?? null, attribute))

/** Whether an object has a key, in any letter case. */
function hasKey(holder: unknown, key: string): boolean {
  if (!isJsonObject(holder)) return false
  if (Object.hasOwn(holder, key)) return true
  const lower = key.toLowerCase()
  return Object.keys(holder).some((own) => own.toLowerCase() === lower)
}

const MAX_SHOWN = 120

function describeValues({ values, unknown, sensitive }: PathValues): string {
  if (sensitive) return 'a value that is sensitive'
  const [first] = values
  if (values.length === 0) return unknown ? 'a value known only after apply' : 'nothing'
  const text = JSON.stringify(values.length === 1 ? first : values)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

const MAX_PATTERN = 300
const MAX_TEXT = 10_000

/**
 * Whether a whole text fits a pattern that a model wrote: `*` stands for any text, `?` for one character, `|` separates
 * alternatives, and letter case does not matter. The time grows with the length of the pattern times that of the text
 * at worst, unlike that of a regular expression. A pattern of more than 300 characters, or a text of more than 10,000,
 * does not fit.
 */
export function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT) return false
  const lower = text.toLowerCase()
  if (!/[*?|]/.test(pattern)) return pattern.trim().toLowerCase() === lower
  return pattern
    .toLowerCase()
    .split('|')
    .some((alternative) => fitsAlternative(alternative.trim(), lower))
}

/**
 * Matches one alternative. After a mismatch only the last star has to take one character more: the stars before it have
 * already matched as little as they can.
 */
function fitsAlternative(pattern: string, text: string): boolean {
  let at = 0
  let next = 0
  let star = -1
  let resumed = 0
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next++
      resumed = at
    } else if (next < pattern.length && (pattern[next] === '?' || pattern[next] === text[at])) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++resumed
    } else return false
  }
  while (pattern[next] === '*') next++
  return next === pattern.length
}
