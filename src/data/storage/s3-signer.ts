import { AwsV4Signer } from 'aws4fetch'
import type { CredentialSource } from '../../aws/credentials.ts'
import { sha256Hex } from '../../base/bytes.ts'
import type { StoreRequest } from './object-store.ts'

export interface S3Signer {
  /** Returns the headers with the signature and the hash of the body. */
  headers(request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>): Promise<Record<string, string>>
  /** Returns a signed URL for GET. The signature includes the host, so `url` needs the one that clients use. */
  presign(url: string, expiresSeconds: number): Promise<string>
  /** Returns the expiry of the current credentials, and so of every URL signed with them; null without one. */
  expires(): Promise<Date | null>
}

/** The signing library derives a key for each day and secret key. Beyond this number, the cached ones are discarded. */
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
