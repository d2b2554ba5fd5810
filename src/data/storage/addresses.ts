import type { StorageConfig } from '../../../config/types.ts'
import { domainOf } from '../../aws/sts.ts'
import { percentEncode } from '../../base/text.ts'

/**
 * Returns the path of an object below its bucket, encoded by segment as signatures require. Throws when the key has a
 * segment `.` or `..`: URL parsers resolve those, so the path would name another object.
 */
export function objectPath(key: string): string {
  const segments = key.split('/')
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new Error('a key must not have dot segments')
  return segments.map(percentEncode).join('/')
}

export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')

export type S3Address = ReturnType<typeof createS3Address>

/**
 * Returns the URLs of buckets and objects, for the platform and for browsers. An empty key means the bucket. With `BUNDLED`, buckets are paths below
 * the two configured endpoints, or names in front of their hosts. With `S3`, the region determines the endpoint, and the configured ones are ignored.
 */
export function createS3Address(
  config: Pick<StorageConfig, 'provider' | 'endpoint_url' | 'public_endpoint_url' | 'region' | 'addressing'>,
) {
  if (config.provider === 'S3') {
    const regional = (bucket: string, key = '') => regionalUrl(config.region, bucket, key)
    return { internal: regional, public: regional }
  }
  const style = config.addressing === 'virtual' ? virtualStyle : pathStyle
  return {
    internal: (bucket: string, key = '') => style(config.endpoint_url, bucket, key),
    public: (bucket: string, key: string) => style(config.public_endpoint_url, bucket, key),
  }
}

function virtualStyle(endpoint: string, bucket: string, key: string): string {
  const { protocol, host, pathname } = new URL(endpoint)
  return `${protocol}//${bucket}.${host}${withoutTrailingSlash(pathname)}/${objectPath(key)}`
}

const pathStyle = (endpoint: string, bucket: string, key: string) =>
  `${withoutTrailingSlash(endpoint)}/${bucket}${key === '' ? '' : `/${objectPath(key)}`}`

/** Returns the URL with the bucket in the host name, or in the path if it has dots, which certificates do not match. */
function regionalUrl(region: string, bucket: string, key: string): string {
  const host = `s3.${region}.${domainOf(region)}`
  return bucket.includes('.')
    ? pathStyle(`https://${host}`, bucket, key)
    : `https://${bucket}.${host}/${objectPath(key)}`
}
