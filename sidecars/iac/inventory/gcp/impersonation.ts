import * as v from 'valibot'
import { askJson } from '../http.ts'
import { serviceUrl, shaped } from '../inputs.ts'
import { type ObtainToken, tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { SCOPE } from './grant.ts'

const SOURCE = 'IAM Service Account Credentials'
const Answer = v.object({ accessToken: tokenText, expireTime: v.pipe(v.string(), v.isoTimestamp()) })

/** The address that issues tokens of this account. */
export function impersonationUrl(iam_credentials: string, account: string): string {
  if (!/^[^\s@/?#]+@[^\s@/?#]+$/.test(account))
    throw new InventoryError('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT is no service account')
  return `${iam_credentials}/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
export function impersonated(
  request: InventoryRequest,
  url: string,
  obtain: ObtainToken,
  delegates: readonly string[] = [],
): ObtainToken {
  const address = serviceUrl(url, 'service_account_impersonation_url')
  return async () => {
    const { value } = await obtain()
    const answer = await askJson({
      request,
      source: SOURCE,
      url: address,
      method: 'POST',
      headers: { authorization: `Bearer ${value}` },
      json: { scope: [SCOPE], lifetime: '3600s', ...(delegates.length > 0 ? { delegates } : {}) },
    })
    const { accessToken, expireTime } = shaped(SOURCE, Answer, answer)
    return { value: accessToken, expires_at: Date.parse(expireTime) }
  }
}
