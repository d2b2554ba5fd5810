import type { Json } from '../base/json.ts'
import type { DriftOperation } from './drift.ts'

/** One attribute in which code and infrastructure differ; the path is empty when it is the resource as a whole. */
export interface DriftFact {
  attribute: string
  text: string
}

/** Longest value that is written out. */
const MAX_VALUE = 300
/** Most attributes that are named one by one. */
const MAX_FACTS = 100

/** What differs, attribute by attribute, from the plan alone. Values are masked as in the operation. */
export function driftFacts(operation: DriftOperation): DriftFact[] {
  if (operation.action === 'delete resource')
    return [{ attribute: '', text: 'The code has it, the infrastructure does not.' }]
  if (operation.action === 'create resource')
    return [{ attribute: '', text: 'The infrastructure has it, the code does not.' }]
  const { changed = {}, added = {}, removed = {} } = operation.changes
  const facts = [
    ...Object.entries(changed).map(([path, { old_value, new_value }]) =>
      fact(path, `${shown(old_value)} in the code, ${shown(new_value)} in the infrastructure`),
    ),
    ...Object.entries(added).map(([path, value]) =>
      fact(path, `not in the code, ${shown(value)} in the infrastructure`),
    ),
    ...Object.entries(removed).map(([path, value]) =>
      fact(path, `${shown(value)} in the code, not in the infrastructure`),
    ),
  ]
  if (facts.length <= MAX_FACTS) return facts
  return [...facts.slice(0, MAX_FACTS), { attribute: '', text: `and ${facts.length - MAX_FACTS} more differences` }]
}

const fact = (attribute: string, text: string): DriftFact => ({
  attribute,
  text: attribute === '' ? text : `${attribute}: ${text}`,
})

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${[...text].slice(0, MAX_VALUE).join('')}…` : text
}
