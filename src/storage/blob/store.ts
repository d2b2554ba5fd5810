import type { StorageConfig } from '../../../config/types.ts'
import { notFound } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { errorCode, isMissing, type StoreCall, type StoreRequest, storeError } from '../call.ts'
import { objectPath, withoutTrailingSlash } from '../object-path.ts'
import type { ObjectStore } from '../types.ts'
import { readSas, sharedKeyHeaders } from './sign.ts'

const PREFIX = 'x-ms-meta-'

export interface BlobTools {
  config: StorageConfig
  call: StoreCall
  log: Logger
  now: () => Date
}

/** A container of a storage account. Which origins may read is a setting of the account, not of the container. */
export function createBlobStore({ config, call, log, now }: BlobTools): ObjectStore {
  const endpoint = withoutTrailingSlash(config.endpoint_url)
  const blobUrl = (base: string, key: string) => `${base}/${config.bucket}/${objectPath(key)}`
  const signed = async (request: StoreRequest) =>
    call({ ...request, headers: await sharedKeyHeaders(config, request, now()) })
  const ensureContainer = async (container: string) => {
    const response = await signed({ method: 'PUT', url: `${endpoint}/${container}?restype=container`, headers: {} })
    if (response.status === 201) return log.info('container created', { container })
    if (response.status !== 409 || errorCode(response) === 'ContainerBeingDeleted')
      throw storeError(response, `the creation of container ${container}`)
  }
  return {
    metadata_prefix: PREFIX,
    ensureBuckets: async () => {
      for (const container of new Set([config.bucket, config.engine_state_bucket]))
        if (container !== '') await ensureContainer(container)
    },
    put: async (key, body, { content_type, metadata = {}, signal }) => {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const named = Object.entries(metadata).map(([name, value]) => [`${PREFIX}${name}`, value])
      const headers = { 'content-type': content_type, 'x-ms-blob-type': 'BlockBlob', ...Object.fromEntries(named) }
      const response = await signed({ method: 'PUT', url: blobUrl(endpoint, key), headers, body: bytes, signal })
      if (response.status !== 201) throw storeError(response, `the upload of ${key}`)
      return bytes.byteLength
    },
    get: async (key, options = {}) => {
      const response = await signed({ method: 'GET', url: blobUrl(endpoint, key), headers: {}, ...options })
      if (isMissing(response)) throw notFound(`Object not found: ${key}`)
      if (response.status !== 200) throw storeError(response, `the read of ${key}`)
      return response.body
    },
    delete: async (key) => {
      const response = await signed({ method: 'DELETE', url: blobUrl(endpoint, key), headers: {} })
      if (response.status !== 202 && response.status !== 404) throw storeError(response, `the deletion of ${key}`)
    },
    presign: async (key) => {
      const expires = new Date(now().getTime() + config.presign_expiry_seconds * 1000)
      const sas = await readSas(config, config.bucket, key, expires)
      return `${blobUrl(withoutTrailingSlash(config.public_endpoint_url), key)}?${sas}`
    },
    urlsLapse: async () => null,
  }
}
