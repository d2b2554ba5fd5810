import { askJson } from '../http.ts'
import { checkShape } from '../inputs.ts'
import { asAccessToken, type ObtainToken, tokenAnswer } from '../tokens.ts'
import type { InventoryRequest } from '../types.ts'
import type { AzureEnvironment } from './environment.ts'

export interface Application {
  tenantId: string
  clientId: string
}

/** How an application proves itself. */
export type Proof = { client_secret: string } | { client_assertion: string }

export const tokenEndpoint = (environment: AzureEnvironment, tenantId: string): string =>
  `${environment.login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`

const SOURCE = 'Microsoft Entra ID'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/**
 * Obtains tokens by the client credentials grant.
 * @param prove is called for each token, because an assertion is short-lived and a file with one is renewed
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export function signIn(
  request: InventoryRequest,
  environment: AzureEnvironment,
  { tenantId, clientId }: Application,
  prove: () => Promise<Proof>,
): ObtainToken {
  return async () => {
    const proof = await prove()
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      scope: `${environment.audience}/.default`,
      ...proof,
      ...('client_assertion' in proof ? { client_assertion_type: ASSERTION_TYPE } : {}),
    })
    const answer = await askJson({
      request,
      source: SOURCE,
      url: tokenEndpoint(environment, tenantId),
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      secrets: Object.values(proof).flatMap((secret) => [secret, encodeURIComponent(secret)]),
    })
    return asAccessToken(checkShape(SOURCE, tokenAnswer, answer), request)
  }
}
