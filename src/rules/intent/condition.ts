import { isJsonObject } from '../../base/json.ts'
import { compareValue, isNegative, isNothing } from './compare.ts'
import type { Resource } from './resources.ts'
import type { Condition } from './statement.ts'
import { type PathValues, stepsOf, valuesAt } from './values-at.ts'

/** The plan's verdict on one condition and one resource. */
export interface Judgement {
  /** True if the condition holds; null where the plan cannot tell. */
  holds: boolean | null
  /** Planned value at the path, without sensitive parts. */
  description: string
}

/**
 * Judges whether the planned values of a resource meet a condition.
 * @param steps steps of the condition's path, to share between resources
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
  [values?.value, values?.unknown, expressions].some((holder) => hasKey(holder ?? null, attribute))

/** Reports whether an object has a key, in any letter case. */
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
