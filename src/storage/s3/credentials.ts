import * as v from 'valibot'
import { internal } from '../../errors.ts'
import { type Fetch, send } from '../../http/outbound.ts'

export interface S3Credentials {
  access_key: string
  secret_key: string
  session_token?: string
}

/** Asked before each signature; keeps what it got for as long as that is valid. */
export type CredentialSource = () => Promise<S3Credentials>

export const staticCredentials =
  (credentials: S3Credentials): CredentialSource =>
  async () =>
    credentials

const METADATA = 'http://169.254.169.254/latest'
const RENEW_BEFORE_MS = 5 * 60_000

/** The role of the machine (instance metadata, version 2). Errors: `PlatformError` 500. */
export function instanceCredentials(fetcher: Fetch, now: () => Date): CredentialSource {
  let kept: { credentials: S3Credentials; expires: number } | null = null
  const ask = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const response = await send(fetcher, { url: `${METADATA}/${path}`, method, headers, timeout_ms: 1000, retries: 1 })
    if (response.status !== 200) throw new Error(`instance metadata answered ${response.status}`)
    return response.text()
  }
  const fetchNew = async () => {
    const token = await ask('api/token', { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }, 'PUT')
    const headers = { 'x-aws-ec2-metadata-token': token }
    const [role = ''] = (await ask('meta-data/iam/security-credentials/', headers)).split('\n')
    return parseCredentials(await ask(`meta-data/iam/security-credentials/${encodeURIComponent(role.trim())}`, headers))
  }
  return async () => {
    if (kept && kept.expires - now().getTime() > RENEW_BEFORE_MS) return kept.credentials
    kept = await fetchNew().catch((error: unknown) => {
      throw internal('No credentials for the object store: neither the key variables nor a role of this machine.', error)
    })
    return kept.credentials
  }
}

const filled = v.pipe(v.string(), v.nonEmpty())
const roleAnswer = v.object({
  AccessKeyId: filled,
  SecretAccessKey: filled,
  Token: filled,
  Expiration: v.pipe(v.string(), v.isoTimestamp()),
})

function parseCredentials(text: string): { credentials: S3Credentials; expires: number } {
  const answer = v.parse(roleAnswer, JSON.parse(text))
  return {
    credentials: { access_key: answer.AccessKeyId, secret_key: answer.SecretAccessKey, session_token: answer.Token },
    expires: Date.parse(answer.Expiration),
  }
}
