import { AwsV4Signer } from 'aws4fetch'
import type { CredentialSource } from '../../base/aws/credentials.ts'
import { notFound } from '../../base/errors.ts'
import { isMissing, type StoreRequest, storeError } from './call.ts'
import { allowBrowsers, ensureBucket, type S3Tools } from './s3-buckets.ts'
import type { ObjectStore } from './types.ts'

const PREFIX = 'x-amz-meta-'
/** Metadata that browser clients read. */
const READ_BY_BROWSERS = ['type', 'new_file']

/** @param corsOrigins origins of browser clients, for a bucket that is created here */
export function createS3Store(tools: S3Tools, corsOrigins: readonly string[]): ObjectStore {
  const { config, call, signer, address } = tools
  const request = async (
    method: 'GET' | 'PUT' | 'DELETE',
    key: string,
    plain: Record<string, string> = {},
    body?: Uint8Array<ArrayBuffer>,
    limits: { signal?: AbortSignal; max_bytes?: number } = {},
  ) => {
    const url = address.internal(config.bucket, key)
    const headers = await signer.headers({ method, url, headers: plain, body })
    return call({ method, url, headers, body, ...limits })
  }
  return {
    metadata_prefix: PREFIX,
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

export interface S3Signer {
  /** Headers with the signature, payload hash included. */
  headers(request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>): Promise<Record<string, string>>
  /** A GET URL that carries its signature. The host is part of it: sign for the host that will be asked. */
  presign(url: string, expiresSeconds: number): Promise<string>
  /** When the present credentials lapse, and with them every URL signed by them. */
  expires(): Promise<Date | null>
}

/** Derived keys: one a day and secret; those of replaced credentials need not be kept. */
const MAX_DERIVED_KEYS = 16

export function createS3Signer(options: { credentials: CredentialSource; region: string; now: () => Date }): S3Signer {
  const cache = new Map<string, ArrayBuffer>()
  const signerOptions = async () => {
    const { access_key, secret_key, session_token } = await options.credentials()
    if (cache.size > MAX_DERIVED_KEYS) cache.clear()
    const datetime = options
      .now()
      .toISOString()
      .replaceAll(/[:-]|\.\d{3}/g, '')
    const keys = { accessKeyId: access_key, secretAccessKey: secret_key, sessionToken: session_token }
    return { ...keys, service: 's3', region: options.region, datetime, cache }
  }
  return {
    headers: async ({ method, url, headers, body }) => {
      const hashed = { ...headers, 'x-amz-content-sha256': await sha256Hex(body ?? new Uint8Array()) }
      const signed = await new AwsV4Signer({ ...(await signerOptions()), method, url, headers: hashed }).sign()
      return Object.fromEntries(signed.headers)
    },
    presign: async (url, expiresSeconds) => {
      const target = new URL(url)
      target.searchParams.set('X-Amz-Expires', String(expiresSeconds))
      const signed = await new AwsV4Signer({
        ...(await signerOptions()),
        method: 'GET',
        url: target.href,
        signQuery: true,
      }).sign()
      return signed.url.href
    },
    expires: async () => (await options.credentials()).expires ?? null,
  }
}

async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
