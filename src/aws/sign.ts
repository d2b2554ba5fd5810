import { AwsV4Signer } from 'aws4fetch'
import type { AwsCredentials } from './credentials.ts'

interface SignedRequest {
  url: string
  headers: Record<string, string>
  body: string
  service: string
  region: string
  now: Date
}

/** Returns the headers of a request with its signature (version 4). */
export async function signHeaders(request: SignedRequest, keys: AwsCredentials): Promise<Record<string, string>> {
  const { now, ...rest } = request
  const signer = new AwsV4Signer({
    ...rest,
    method: 'POST',
    datetime: now.toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    accessKeyId: keys.access_key,
    secretAccessKey: keys.secret_key,
    sessionToken: keys.session_token,
  })
  return Object.fromEntries((await signer.sign()).headers)
}
