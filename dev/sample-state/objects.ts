import { AwsClient } from 'aws4fetch'
import type { StorageConfig } from '../../config/types.ts'

/** State documents of the engine in the embedded object store. */
export interface StateObjects {
  /** Reads a state document; null when there is none. */
  read(projectId: string): Promise<StateDocument | null>
  write(projectId: string, state: StateDocument): Promise<void>
  /** Removes the document, and the lock that a killed engine may have left. */
  remove(projectId: string): Promise<void>
}

/** The part of a state document (version 4) that is read here. Everything else is kept as it is. */
export interface StateDocument {
  serial: number
  resources: { type: string; name: string; instances: { attributes: Record<string, unknown> }[] }[]
}

const LIMIT_MS = 10_000

export function stateObjects(storage: StorageConfig): StateObjects {
  const { access_key, secret_key, region } = storage
  const client = new AwsClient({
    accessKeyId: access_key,
    secretAccessKey: secret_key,
    service: 's3',
    region,
    retries: 0,
  })
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
    read: async (projectId) => {
      const text = await call('GET', projectId)
      return text === null ? null : (JSON.parse(text) as StateDocument)
    },
    write: async (projectId, state) => {
      await call('PUT', projectId, { body: JSON.stringify(state, null, 2) })
    },
    remove: async (projectId) => {
      for (const ending of ['', '.tflock']) await call('DELETE', projectId, { ending })
    },
  }
}
