import type { ObtainToken } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { IAM_CREDENTIALS, obtainByLibrary } from './library.ts'
import { SCOPE } from './token-exchange.ts'

/** The address that issues tokens for this account. */
export function impersonationUrl(iamCredentials: string, account: string): string {
  if (!/^[^\s@/?#]+@[^\s@/?#]+$/.test(account))
    throw new InventoryError('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT is no service account')
  return `${iamCredentials}/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`
}

/**
 * Obtains tokens for another service account with those of the first.
 * @param url names the account
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
export function impersonate(
  request: InventoryRequest,
  url: string,
  obtain: ObtainToken,
  delegates: readonly string[] = [],
): ObtainToken {
  return obtainByLibrary(
    { request, source: IAM_CREDENTIALS, url, urlName: 'service_account_impersonation_url', secrets: [] },
    async ({ Impersonated, OAuth2Client }, transporterOptions) => {
      const sourceClient = new OAuth2Client({ transporterOptions })
      sourceClient.setCredentials({ access_token: (await obtain()).value })
      return new Impersonated({ sourceClient, targetScopes: [SCOPE], delegates: [...delegates], lifetime: 3600 })
    },
  )
}
