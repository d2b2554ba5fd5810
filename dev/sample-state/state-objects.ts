import { AwsClient } from 'aws4fetch'
import type { StorageConfig } from '../../config/types.ts'

/** The part of a state document (version 4) that is read here. Everything else is kept as it is. */
export interface StateDocument {
  serial: number
  resources: { type: string; name: string; instances: { attributes: Record<string, unknown> }[] }[]
}

const LIMIT_MS = 10_000

/** Gives access to the state documents of the engine in the embedded object store. */
export function stateObjects(storage: StorageConfig) {
  const { access_key, secret_key, region } = storage
  const keys = { accessKeyId: access_key, secretAccessKey: secret_key }
  const client = new AwsClient({ ...keys, service: 's3', region, retries: 0 })
  const call = async (method: string, projectId: string, options: { ending?: string; body?: string } = {}) => {
    const bucketUrl = `${storage.endpoint_url}/${storage.engine_state_bucket}`
    const url = `${bucketUrl}/${projectId}/${storage.engine_state_filename}${options.ending ?? ''}`
    const response = await client.fetch(url, { method, body: options.body, signal: AbortSignal.timeout(LIMIT_MS) })
    const text = await response.text()
    if (!response.ok && response.status !== 404)
      throw new Error(`the object store answered ${response.status} to ${method} of a sample's state`)
    return response.ok ? text : null
  }
  return {
    /** Reads a state document; null when there is none. */
    read: async (projectId: string): Promise<StateDocument | null> =>
      JSON.parse((await call('GET', projectId)) ?? 'null'),
    write: (projectId: string, state: StateDocument) =>
      call('PUT', projectId, { body: JSON.stringify(state, null, 2) }),
    /** Removes the document, and the lock that a killed engine may have left. */
    remove: async (projectId: string): Promise<void> => {
      for (const ending of ['', '.tflock']) await call('DELETE', projectId, { ending })
    },
  }
}

/** A setting of a built-in resource that was changed outside of the code, from one value to the other or back. */
export interface ManualChange {
  name: string
  attribute: string
  from: string | number | boolean
  to: string | number | boolean
}

/** Edits a state as a refresh does after changes outside of the code. Errors: the resource or attribute is missing. */
export function changeByHand(state: StateDocument, changes: readonly ManualChange[]): StateDocument {
  const edited = structuredClone(state)
  for (const { name, attribute, from, to } of changes) {
    const resource = edited.resources.find((one) => one.type === 'terraform_data' && one.name === name)
    const attributes = resource?.instances[0]?.attributes
    // The built-in resource repeats its input as its output.
    const values = [attributes?.input, attributes?.output].map(dynamicValue)
    for (const value of values) {
      if (!value || !(attribute in value)) throw new Error(`the state of terraform_data.${name} holds no ${attribute}`)
      value[attribute] = value[attribute] === from ? to : from
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
