import type { StorageConfig } from '../../../config/types.ts'
import { domainOf } from '../../base/aws/partition.ts'

/**
 * The path of an object below its bucket, encoded segment by segment as signatures demand. Throws for
 * dot segments: every URL parser resolves them, so they would name another object.
 */
export function objectPath(key: string): string {
  const segments = key.split('/')
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new Error('a key must not have dot segments')
  return segments.map(encodeSegment).join('/')
}

const encodeSegment = (segment: string) =>
  encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')

/** Where buckets and objects are: for the platform itself and for browsers. An empty key is the bucket. */
export interface S3Address {
  internal(bucket: string, key?: string): string
  public(bucket: string, key: string): string
}

type Location = Pick<StorageConfig, 'provider' | 'endpoint_url' | 'public_endpoint_url' | 'region'>

/** BUNDLED: path style at the configured endpoints. S3: the region makes the endpoint, both URLs are ignored. */
export function createS3Address(config: Location): S3Address {
  if (config.provider === 'S3') {
    const regional = (bucket: string, key = '') => regionalUrl(config.region, bucket, key)
    return { internal: regional, public: regional }
  }
  return {
    internal: (bucket, key = '') => pathStyle(config.endpoint_url, bucket, key),
    public: (bucket, key) => pathStyle(config.public_endpoint_url, bucket, key),
  }
}

const pathStyle = (endpoint: string, bucket: string, key: string) =>
  `${withoutTrailingSlash(endpoint)}/${bucket}${key === '' ? '' : `/${objectPath(key)}`}`

/** A bucket name with dots does not fit the certificate of the virtual host. */
function regionalUrl(region: string, bucket: string, key: string): string {
  const host = `s3.${region}.${domainOf(region)}`
  return bucket.includes('.')
    ? pathStyle(`https://${host}`, bucket, key)
    : `https://${bucket}.${host}/${objectPath(key)}`
}
