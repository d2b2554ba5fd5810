import type { StateDocument } from './objects.ts'

/** A value that somebody changed by hand. The second of `values` is used when the code has the first one already. */
export interface HandMade {
  type: string
  name: string
  attribute: string
  values: readonly [string | number | boolean, string | number | boolean]
}

/**
 * Edits a state document the way a refresh would leave it after somebody has changed settings outside of the code.
 * Errors: the state lacks the resource or the attribute.
 */
export function changeByHand(state: StateDocument, changes: readonly HandMade[]): StateDocument {
  const edited = structuredClone(state)
  for (const change of changes) {
    const resource = edited.resources.find(({ type, name }) => type === change.type && name === change.name)
    const attributes = resource?.instances[0]?.attributes
    // The built-in resource repeats its input as its output.
    const values = [attributes?.input, attributes?.output].map(dynamicValue)
    for (const value of values) {
      if (!value || !(change.attribute in value))
        throw new Error(`the state of ${change.type}.${change.name} holds no ${change.attribute}`)
      const [first, second] = change.values
      value[change.attribute] = value[change.attribute] === first ? second : first
    }
  }
  return { ...edited, serial: state.serial + 1 }
}

/** Reads a value of a dynamic type, which is stored together with its type. */
function dynamicValue(attribute: unknown): Record<string, unknown> | null {
  if (typeof attribute !== 'object' || attribute === null || !('value' in attribute)) return null
  const { value } = attribute
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
}
