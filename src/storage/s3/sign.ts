import { AwsV4Signer } from 'aws4fetch'
import type { CredentialSource } from '../../base/aws/credentials.ts'
import type { StoreRequest } from '../call.ts'

export interface S3Signer {
  /** Headers with the signature, payload hash included. */
  headers(request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>): Promise<Record<string, string>>
  /** A GET URL that carries its signature. The host is part of it: sign for the host that will be asked. */
  presign(url: string, expires_seconds: number): Promise<string>
  /** When the present credentials lapse, and with them every URL signed by them. */
  expires(): Promise<Date | null>
}

/** Derived keys: one a day and secret; those of replaced credentials need not be kept. */
const MAX_DERIVED_KEYS = 16

export function createS3Signer(options: { credentials: CredentialSource; region: string; now: () => Date }): S3Signer {
  const cache = new Map<string, ArrayBuffer>()
  const common = async () => {
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
      const signed = await new AwsV4Signer({ ...(await common()), method, url, headers: hashed }).sign()
      return Object.fromEntries(signed.headers)
    },
    presign: async (url, expires_seconds) => {
      const target = new URL(url)
      target.searchParams.set('X-Amz-Expires', String(expires_seconds))
      const signed = await new AwsV4Signer({
        ...(await common()),
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
