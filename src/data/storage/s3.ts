import { type ObjectStore, objectMethods } from './object-store.ts'
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
  const methods = objectMethods(PREFIX, { put: 200, delete: [200, 204] }, async (key, request) => {
    const url = address.internal(config.bucket, key)
    return call({ ...request, url, headers: await signer.headers({ ...request, url }) })
  })
  return {
    ...methods,
    ensureBuckets: async () => {
      const created = await ensureBucket(tools, config.bucket)
      const exposed = READ_BY_BROWSERS.map((name) => `${PREFIX}${name}`)
      if (created && corsOrigins.length > 0) await allowBrowsers(tools, config.bucket, corsOrigins, exposed)
      if (config.engine_state_bucket !== '' && config.engine_state_bucket !== config.bucket)
        await ensureBucket(tools, config.engine_state_bucket)
    },
    presign: async (key) => signer.presign(address.public(config.bucket, key), config.presign_expiry_seconds),
    urlsLapse: () => signer.expires(),
  }
}
