import * as v from 'valibot'
import { askJson } from '../http.ts'
import { checkShape, serviceUrl } from '../inputs.ts'
import { type AccessToken, asAccessToken, type ObtainToken, tokenAnswer, tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

/** What every form of credentials needs to get a token. */
export interface TokenContext {
  request: InventoryRequest
  /** The universe of the credentials; undefined for the default one. */
  universe: string | undefined
}

/** Exchanges a form for a token at a token endpoint. */
export async function exchangeToken(options: {
  request: InventoryRequest
  source: string
  url: string
  form: Record<string, string>
  headers?: Record<string, string>
  /** Names of the fields whose values must not appear in an error. */
  secretFields: readonly string[]
}): Promise<AccessToken> {
  const { request, source, form } = options
  const answer = await askJson({
    request,
    source,
    url: serviceUrl(options.url, 'the token address of the Google credentials'),
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
    body: new URLSearchParams(form).toString(),
    secrets: options.secretFields.flatMap((name) => [form[name] ?? '', encodeURIComponent(form[name] ?? '')]),
  })
  return asAccessToken(checkShape(source, tokenAnswer, answer), request)
}

const SOURCE = 'IAM Service Account Credentials'
const Answer = v.object({ accessToken: tokenText, expireTime: v.pipe(v.string(), v.isoTimestamp()) })

/** The address that issues tokens for this account. */
export function impersonationUrl(iamCredentials: string, account: string): string {
  if (!/^[^\s@/?#]+@[^\s@/?#]+$/.test(account))
    throw new InventoryError('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT is no service account')
  return `${iamCredentials}/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`
}

/**
 * Obtains tokens for another service account with those of the first.
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
export function impersonate(
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
    const { accessToken, expireTime } = checkShape(SOURCE, Answer, answer)
    return { value: accessToken, expiresAt: Date.parse(expireTime) }
  }
}
