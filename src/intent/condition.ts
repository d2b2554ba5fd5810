import { compare, isNegative, isNothing } from './compare.ts'
import type { Resource } from './resources.ts'
import type { Condition } from './types.ts'
import { type Found, stepsOf, valuesAt } from './values-at.ts'

/** `holds` is null where the plan cannot tell; `shown` says what stands there, without sensitive values. */
export interface Judged {
  holds: boolean | null
  shown: string
}

/**
 * Whether the planned values of a resource are as a condition says.
 * @param steps of the condition's path
 */
export function judge(resource: Resource, condition: Condition, steps = stepsOf(condition.path)): Judged {
  const { values } = resource
  if (values === null) return { holds: false, shown: 'nothing: it is destroyed' }
  const [attribute = ''] = steps
  if (!hasAttribute(resource, attribute)) return { holds: null, shown: `no attribute ${attribute.slice(0, 100)}` }
  const found = valuesAt(values, steps)
  return { holds: verdictOf(found, condition, hasKey(resource.expressions, attribute)), shown: shownOf(found) }
}

/** @param configured whether the code sets the attribute */
function verdictOf(found: Found, { op, value }: Condition, configured: boolean): boolean | null {
  if (op === 'exists' || op === 'absent') {
    const present = found.values.some((item) => !isNothing(item)) || (found.unknown && configured)
    // A value of the cloud that the code does not set may turn out either way.
    if (!present && found.unknown) return null
    return present === (op === 'exists')
  }
  if (found.sensitive) return null
  const results = found.values.map((item) => compare(item, op, value))
  if (isNegative(op)) {
    if (results.includes(false)) return false
    return found.unknown || results.includes(null) ? null : true
  }
  if (results.includes(true)) return true
  return found.unknown || results.includes(null) ? null : false
}

/** A name that the type does not have was guessed wrongly: such a condition says nothing about the plan. */
const hasAttribute = ({ values, expressions }: Resource, attribute: string): boolean =>
  [values?.value, values?.unknown, expressions].some((holder) => hasKey(holder ?? null, attribute))

function hasKey(holder: unknown, key: string): boolean {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return false
  if (Object.hasOwn(holder, key)) return true
  const lower = key.toLowerCase()
  return Object.keys(holder).some((own) => own.toLowerCase() === lower)
}

const MAX_SHOWN = 120

function shownOf({ values, unknown, sensitive }: Found): string {
  if (sensitive) return 'a value that is sensitive'
  const [first] = values
  if (values.length === 0) return unknown ? 'a value known only after apply' : 'nothing'
  const text = JSON.stringify(values.length === 1 ? first : values)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

const MAX_PATTERN = 300
const MAX_TEXT = 10_000

/**
 * Whether the whole text fits a pattern of a model: `*` is any text, `?` one character, `|` parts
 * alternatives; letter case does not count. Takes time of at most pattern by text, whatever they hold. What is
 * longer than 300 or 10,000 characters does not fit.
 */
export function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT) return false
  const lower = text.toLowerCase()
  if (!/[*?|]/.test(pattern)) return pattern.trim().toLowerCase() === lower
  return pattern
    .toLowerCase()
    .split('|')
    .some((alternative) => fitsOne(alternative.trim(), lower))
}

/** Goes back to the last star only: the earlier ones already took the least they need. */
function fitsOne(pattern: string, text: string): boolean {
  let at = 0
  let p = 0
  let star = -1
  let resumed = 0
  while (at < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resumed = at
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[at])) {
      p++
      at++
    } else if (star >= 0) {
      p = star + 1
      at = ++resumed
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
