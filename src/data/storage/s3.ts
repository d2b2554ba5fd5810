import { notFound } from '../../base/errors.ts'
import { isMissing, type ObjectStore, storeError } from './object-store.ts'
import { allowBrowsers, ensureBucket, type S3Tools } from './s3-buckets.ts'

const PREFIX = 'x-amz-meta-'
/** The names of metadata that browser clients read. */
const READ_BY_BROWSERS = ['type', 'new_file']

/**
 * Creates the object store for a bucket of S3 or a compatible server.
 * @param corsOrigins origins of browser clients that may read from a bucket created here
 */
export function createS3Store(tools: S3Tools, corsOrigins: readonly string[]): ObjectStore {
  const { config, call, signer, address } = tools
  const request = async (
    method: 'GET' | 'PUT' | 'DELETE',
    key: string,
    plain: Record<string, string> = {},
    body?: Uint8Array<ArrayBuffer>,
    limits: { signal?: AbortSignal; maxBytes?: number } = {},
  ) => {
    const url = address.internal(config.bucket, key)
    const headers = await signer.headers({ method, url, headers: plain, body })
    return call({ method, url, headers, body, ...limits })
  }
  return {
    metadataPrefix: PREFIX,
    ensureBuckets: async () => {
      const created = await ensureBucket(tools, config.bucket)
      const exposed = READ_BY_BROWSERS.map((name) => `${PREFIX}${name}`)
      if (created && corsOrigins.length > 0) await allowBrowsers(tools, config.bucket, corsOrigins, exposed)
      if (config.engine_state_bucket !== '' && config.engine_state_bucket !== config.bucket)
        await ensureBucket(tools, config.engine_state_bucket)
    },
    put: async (key, body, { content_type, metadata = {}, signal }) => {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const prefixed = Object.entries(metadata).map(([name, value]) => [`${PREFIX}${name}`, value])
      const response = await request(
        'PUT',
        key,
        { 'content-type': content_type, ...Object.fromEntries(prefixed) },
        bytes,
        { signal },
      )
      if (response.status !== 200) throw storeError(response, `the upload of ${key}`)
      return bytes.byteLength
    },
    get: async (key, options = {}) => {
      const response = await request('GET', key, {}, undefined, options)
      if (isMissing(response)) throw notFound(`Object not found: ${key}`)
      if (response.status !== 200) throw storeError(response, `the read of ${key}`)
      return response.body
    },
    delete: async (key) => {
      const response = await request('DELETE', key)
      if (response.status !== 200 && response.status !== 204 && response.status !== 404)
        throw storeError(response, `the deletion of ${key}`)
    },
    presign: async (key) => signer.presign(address.public(config.bucket, key), config.presign_expiry_seconds),
    urlsLapse: () => signer.expires(),
  }
}
