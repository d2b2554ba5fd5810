import type { StateDocument } from './objects.ts'

/** A value that somebody changed by hand: what it is now, and another one for when the code says so already. */
export interface HandMade {
  type: string
  name: string
  attribute: string
  values: readonly [string | number | boolean, string | number | boolean]
}

/**
 * The state after these settings were changed outside of the code: the record of what exists is edited as
 * a refresh would leave it, and is valid.
 * Errors: a resource or an attribute that the state does not hold.
 */
export function changedByHand(state: StateDocument, changes: readonly HandMade[]): StateDocument {
  const edited = structuredClone(state)
  for (const change of changes) {
    const resource = edited.resources.find(({ type, name }) => type === change.type && name === change.name)
    const attributes = resource?.instances[0]?.attributes
    // The built-in resource gives its input back as its output.
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

/** A value of a dynamic type is stored with its type beside it. */
function dynamicValue(attribute: unknown): Record<string, unknown> | null {
  if (typeof attribute !== 'object' || attribute === null || !('value' in attribute)) return null
  const { value } = attribute
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
}
